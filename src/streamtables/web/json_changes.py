"""The changes of publications over HTTP: lines of JSON, or a stream of Arrow."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import pyarrow as pa
from fastapi import APIRouter, Body, Depends, Header, Path, Query
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer

from streamtables.answers import Changes
from streamtables.api import StreamTables
from streamtables.web.json_actions import may_change
from streamtables.web.json_facts import Here, answer_of
from streamtables.web.json_schemas import CHANGE_ERRORS, ERRORS, Acknowledgement, Done
from streamtables.web.plain import to_json

if TYPE_CHECKING:
    from typing_extensions import Buffer

ARROW = "application/vnd.apache.arrow.stream"
LINES = "application/x-ndjson"
_WEIGHT = "__st_weight"
_HEAD = ("publication", "table", "key", "incarnation", "after", "upto", "current", "reset")
_BEARER = HTTPBearer(auto_error=False, description="The token of `streamtables serve`.")
_LARGEST = 2**53

routes = APIRouter(prefix="/api", tags=["publications"], responses=ERRORS)
PublicationName = Annotated[str, Path(max_length=300, description="The name of a publication.")]


@routes.get("/publications", response_model=answer_of(StreamTables.publications))
def publications(here: Here) -> object:
    """Return every publication with its subscribers, and how far each is."""
    return here.db.publications()


@routes.get(
    "/changes/{publication}",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The changes, as the Accept header asks for them.",
            "content": {LINES: {"schema": {}}, ARROW: {"schema": {}}},
        }
    },
)
def changes(
    here: Here,
    publication: PublicationName,
    subscriber: Annotated[str, Query(max_length=300, description="Who asks.")],
    limit: Annotated[int, Query(ge=1, le=1_000_000, description="About how many rows.")] = 10_000,
    after: Annotated[
        int | None, Query(ge=0, le=_LARGEST, description="Resume behind this version.")
    ] = None,
    accept: Annotated[str, Header(include_in_schema=False)] = LINES,
) -> StreamingResponse:
    """Return what a subscriber lacks; asking changes nothing."""
    found = here.db.changes(publication, subscriber, limit, after=after)
    if ARROW in accept:
        return StreamingResponse(_arrow(found), media_type=ARROW)
    return StreamingResponse(_lines(found), media_type=LINES)


@routes.post(
    "/acknowledge/{publication}",
    responses=CHANGE_ERRORS,
    dependencies=[Depends(may_change), Depends(_BEARER)],
)
def acknowledge(
    here: Here, publication: PublicationName, what: Annotated[Acknowledgement, Body()]
) -> Done:
    """Note that a subscriber has everything up to a version."""
    here.db.acknowledge(publication, what.subscriber, what.version, incarnation=what.incarnation)
    return Done()


def _head(found: Changes) -> dict[str, object]:
    return {name: getattr(found, name) for name in _HEAD} | {"key_columns": found.key_columns}


def _lines(found: Changes) -> Iterator[bytes]:
    """Give one line for what it is, one for each row, and one that says that all came."""
    yield _line({"kind": "begin", **_head(found)})
    total = 0
    for batch in found.batches:
        rows = batch.to_pylist()
        total += len(rows)
        yield b"".join(
            _line({"kind": "row", "weight": row.pop(_WEIGHT), "row": to_json(row)}) for row in rows
        )
    yield _line({"kind": "end", "upto": found.upto, "rows": total})


def _line(value: dict[str, object]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()


def _arrow(found: Changes) -> Iterator[bytes]:
    """Give a stream of Arrow; its schema says what it is under the name `streamtables`."""
    schema = found.schema.with_metadata({"streamtables": json.dumps(_head(found))})
    parts = _Parts()
    with pa.ipc.new_stream(parts, schema) as writer:
        for batch in found.batches:
            writer.write_batch(batch.replace_schema_metadata(schema.metadata))
            yield parts.taken()
    yield parts.taken()


class _Parts(io.RawIOBase):
    """Takes what is written until it is taken away."""

    def __init__(self) -> None:
        super().__init__()
        self._written: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        piece = bytes(data)
        self._written.append(piece)
        return len(piece)

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        found, self._written = b"".join(self._written), []
        return found
