"""Which files the rows of a mirror came from: a listing beside the rows, named by their commit.

The listing is written before the commit and found by the id in it, so the two agree whatever breaks
off in between.  One whose commit never came is found by nobody, and removed by a later take.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.catalog.models import Source
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.file_listing import files_in
from streamtables.engine.last_transaction import last_transaction
from streamtables.engine.stores import read_file, remove_file, write_file
from streamtables.errors import SourceMissingError
from streamtables.positions import CommitStamp, Sequence, Version
from streamtables.sources.files.listing import Listing, from_bytes, to_bytes

# Delta leaves folders alone whose names begin so.
_FOLDER = "_taken"
_ENDING = ".json.gz"


@dataclass(frozen=True)
class LastTake:
    """What a mirror says of itself: its head, the take that it shows, and the files of that."""

    head: Version | None
    sequence: Sequence
    listing: Listing | None
    lost: str = ""
    """Why its rows must be made anew, whatever is in the folder; empty where they need not."""


def last_take(source: Source) -> LastTake:
    """Read what a mirror shows from its own log."""
    log = DeltaLog(source.location)
    head = log.head()
    foreign: Version | None = None
    for version in range(-1 if head is None else int(head), -1, -1):
        entry = log.entry(Version(version))
        if entry is None:
            # The log was cleaned up: the checkpoint still knows the number of the last take.
            return _by_number(source, head, foreign)
        stamp = entry.stamp
        if stamp is not None and stamp.table_id == source.id:
            return _told(head, stamp.sequence, _kept(source, stamp), foreign)
        foreign = entry.version if entry.changes_rows else foreign
    return LastTake(head, Sequence(0), None, "its copy here is gone, or was never filled")


def keep_listing(source: Source, stamp: CommitStamp, listing: Listing) -> None:
    """Keep which files a commit that is about to be made shows."""
    write_file(_place(source, _name(stamp.sequence, stamp.refresh_id)), to_bytes(listing))


def forget_older(source: Source, sequence: Sequence) -> None:
    """Remove the listings of takes before this one: no commit of theirs can come any more."""
    for name in files_in(_place(source, "")):
        if (number := _number(name)) is not None and number < sequence:
            remove_file(_place(source, name))


def _by_number(source: Source, head: Version | None, foreign: Version | None) -> LastTake:
    number = last_transaction(source.location, source.id)
    if number is None:
        return LastTake(head, Sequence(0), None, "what was taken of it is no longer known")
    try:
        names = [name for name in files_in(_place(source, "")) if _number(name) == number]
    except SourceMissingError:
        names = []
    # Of two takes with one number only one was committed, and the log no longer says which.
    listing = _read(source, names[0]) if len(names) == 1 else None
    return _told(head, Sequence(number), listing, foreign)


def _told(
    head: Version | None, sequence: Sequence, listing: Listing | None, foreign: Version | None
) -> LastTake:
    if foreign is not None:
        lost = f"somebody else wrote version {foreign} of its copy here"
        return LastTake(head, sequence, listing, lost)
    if listing is None:
        return LastTake(head, sequence, None, "what was taken of it is no longer known")
    return LastTake(head, sequence, listing)


def _kept(source: Source, stamp: CommitStamp) -> Listing | None:
    return _read(source, _name(stamp.sequence, stamp.refresh_id))


def _read(source: Source, name: str) -> Listing | None:
    data = read_file(_place(source, name))
    return None if data is None else from_bytes(data)


def _name(sequence: Sequence, refresh_id: str) -> str:
    return f"{sequence}-{refresh_id}{_ENDING}"


def _number(name: str) -> int | None:
    number = name.partition("-")[0]
    return int(number) if number.isdecimal() and name.endswith(_ENDING) else None


def _place(source: Source, name: str) -> str:
    return f"{source.location.rstrip('/')}/{_FOLDER}/{name}".rstrip("/")
