"""What must hold before a definition may change: pure checks that raise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.dependencies import find_cycle
from streamtables.catalog.models import Input, Source, StreamTable, View
from streamtables.errors import AlreadyExistsError, CycleError, InUseError, NotFoundError
from streamtables.positions import InputId

Definition = tuple[StreamTable, Sequence[Input]]


def refuse_taken_name(definitions: Definitions, name: str, *, but: InputId | None = None) -> None:
    """Raise when a source, stream table or view other than `but` has the name."""
    taken = definitions.named(name)
    if taken is None or taken.id == but:
        return
    kind = "source" if isinstance(taken, Source) else "stream table"
    kind = "view" if isinstance(taken, View) else kind
    raise AlreadyExistsError(
        f'the name "{name}" is taken by the {kind} "{taken.name}"',
        hint="Choose another name, or drop what has it.",
    )


def refuse_unknown_inputs(definitions: Definitions, added: Sequence[Definition]) -> None:
    """Raise when one of the added definitions reads what is neither defined nor added."""
    known = {*definitions.sources, *definitions.stream_tables, *(table.id for table, _ in added)}
    library = {*definitions.views, *definitions.functions}
    for table, inputs in added:
        unknown = {item.id for item in inputs} - known
        if unknown or set(table.uses) - library:
            raise NotFoundError(f'an input of the stream table "{table.name}" does not exist')


def refuse_cycle(definitions: Definitions, added: Sequence[Definition]) -> None:
    """Raise, naming the path, when the added definitions would read themselves."""
    edges = {**definitions.edges}
    names = {table.id: table.name for table in definitions.stream_tables.values()}
    for table, inputs in added:
        edges[table.id] = tuple(item.id for item in inputs)
        names[table.id] = table.name
    if path := find_cycle(edges):
        raise CycleError(
            f'the stream table "{names[path[0]]}" would depend on itself',
            detail=f"Each reads the next: {' → '.join(names[step] for step in path)}.",
        )


def refuse_readers(shown: str, readers: Iterable[StreamTable | View], hint: str) -> None:
    """Raise when stream tables or views still read what is to go."""
    # An internal table reads nothing that its owner does not read.
    if names := sorted(t.name for t in readers if not (isinstance(t, StreamTable) and t.owner_id)):
        listed = ", ".join(f'"{name}"' for name in names)
        raise InUseError(f"{shown} is read by {listed}", hint=hint)


def tables_to_drop(definitions: Definitions, table: StreamTable) -> tuple[StreamTable, ...]:
    """Return what goes with a table: its dependants and all internal tables, readers first.

    An internal table that depends on it takes its owner along, as neither can be without the other.
    """
    going: set[InputId] = set()
    waiting = [table.id]
    while waiting:
        current = waiting.pop()
        if current in going:
            continue
        going.add(current)
        owner = definitions.stream_tables[current].owner_id
        waiting.extend(reader.id for reader in definitions.direct_readers(current))
        waiting.extend(internal.id for internal in definitions.internal_tables(current))
        waiting.extend([owner] if owner else [])
    order = reversed(definitions.order)
    return tuple(definitions.stream_tables[item] for item in order if item in going)
