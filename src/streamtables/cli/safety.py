"""What `doctor` says about safe defaults: who else can write or read what matters here."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from streamtables.cli.findings import Finding, State, local_folder
from streamtables.errors import StreamTablesError


def find_safety(warehouse: str) -> Iterator[Finding]:
    """Look at rights of files, and at what settings open to others."""
    from streamtables.catalog import default_location
    from streamtables.settings import FILE_NAME, Settings, load_settings

    folder = local_folder(warehouse)
    if "://" not in warehouse and folder.is_dir():
        yield from _writable_by_all(folder, default_location(folder), folder / FILE_NAME)
    try:
        settings = load_settings(folder)
    except StreamTablesError:
        # The finding about the settings tells of it.
        settings = Settings()
    yield from _secrets_in_the_open(folder / FILE_NAME, settings.web_token, settings.webhook_url)
    if settings.web_trusted_user_header:
        yield _trust(settings.web_trusted_peers)


def _writable_by_all(*paths: Path) -> Iterator[Finding]:
    open_ = [path for path in paths if path.exists() and path.stat().st_mode & stat.S_IWOTH]
    if open_:
        names = ", ".join(str(path) for path in open_)
        yield Finding(
            "rights", "fault", f"everybody may write to {names}",
            "Take the right away: chmod o-w; whoever writes there decides what is refreshed.",
        )  # fmt: skip
    else:
        yield Finding("rights", "ok", "only those whom you let may write to the warehouse")


def _secrets_in_the_open(path: Path, *secrets: str) -> Iterator[Finding]:
    plain = [secret for secret in secrets if secret and not secret.startswith("${")]
    if plain and path.is_file() and path.stat().st_mode & stat.S_IROTH:
        yield Finding(
            "secrets", "fault", f"everybody may read {path.name}, which holds a secret",
            "Write a reference such as ${file:…} instead, or chmod o-r.",
        )  # fmt: skip


def _trust(peers: str) -> Finding:
    import ipaddress

    state: State = "ok"
    for part in filter(None, (item.strip() for item in peers.split(","))):
        try:
            everywhere = ipaddress.ip_network(part, strict=False).prefixlen == 0
        except ValueError:
            everywhere = True
        state = "fault" if everywhere else state
    hint = "Name the addresses of the proxy alone in web_trusted_peers." if state == "fault" else ""
    return Finding("trusted header", state, f"believed from {peers}", hint)
