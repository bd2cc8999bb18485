"""Where a warehouse is: a folder of this machine, or a place in a store behind a URI."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from platformdirs import user_state_path

from streamtables.engine.stores import local_path

_OWN = ("tables", "mirrors")
"""The folders of a warehouse that hold tables which are ours."""


@dataclass(frozen=True)
class Warehouse:
    """The root of all tables that are ours, and a folder for what only this machine needs."""

    home: Path
    """The warehouse itself where it is a folder; a folder of the user's for one in a store."""
    uri: str | None = None

    @classmethod
    def at(cls, place: str | os.PathLike[str]) -> Warehouse:
        """Return the warehouse at a path or URI; nothing is opened or made."""
        text = os.fspath(place)
        path = local_path(text)
        if path is not None:
            return cls(path)
        uri = text.rstrip("/")
        # Two warehouses of one name are told apart by their whole addresses.
        name = f"{uri.rpartition('/')[2]}-{sha256(uri.encode()).hexdigest()[:8]}"
        return cls(user_state_path("streamtables") / name, uri)

    @property
    def shown(self) -> str:
        """The place as people know it, without the keys that an address may hold."""
        if self.uri is None:
            return str(self.home)
        scheme, _, rest = self.uri.partition("?")[0].partition("://")
        bucket, slash, path = rest.partition("/")
        return f"{scheme}://{bucket.rpartition('@')[2]}{slash}{path}"

    @property
    def name(self) -> str:
        """The last part of the place."""
        return self.shown.rpartition("/")[2] if self.uri else self.home.name

    def inside(self, *names: str) -> str:
        """Return a location in the warehouse."""
        if self.uri is not None:
            return "/".join((self.uri, *names))
        return str(self.home.absolute().joinpath(*names))

    def owns(self, location: str) -> bool:
        """Whether a location is one of the warehouse's own tables."""
        folder = local_path(location)
        if self.uri is not None or folder is None:
            plain = ".." not in location.split("/")
            return plain and any(location.startswith(f"{self.inside(name)}/") for name in _OWN)
        own = {Path(self.inside(name)).resolve() for name in _OWN}
        return bool(own & set(folder.resolve().parents))
