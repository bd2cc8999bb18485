"""What becomes of a table when one of its sources is no longer what it was.

made anew, or put back from a copy              rebuild, with the reason
a read column has another type                  rebuild, with the reason
a read column is gone                           stop, with a remedy
new columns                                     a remark: they are not read
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamtables.catalog.models import Column, Input, Source, StreamTable
from streamtables.errors import SchemaChangedError
from streamtables.refresh.surroundings import Surroundings
from streamtables.sources.delta import Drift, SourcePosition


@dataclass(frozen=True)
class DriftNotes:
    """What follows from one source's drift for those who read it."""

    source: str
    gone: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def check(self, table: StreamTable, item: Input) -> None:
        """Stop a table that reads a column which is gone."""
        read = {name.lower() for name in item.columns}
        lost = [name for name in self.gone if name in read]
        if lost:
            listed = ", ".join(f'"{name}"' for name in lost)
            raise SchemaChangedError(
                f'source "{self.source}" lost a column that "{table.name}" reads',
                detail=f"Missing: {listed}.",
                hint=f'Restore the column, or alter the query of "{table.name}".',
            )


def notes_on(source: Source, drift: Drift) -> DriftNotes:
    """Return what the readers of a source must know about its drift."""
    if not drift.added:
        return DriftNotes(source.name, drift.missing)
    listed = ", ".join(drift.added)
    remark = f'source "{source.name}" has new columns that no query reads: {listed}'
    return DriftNotes(source.name, drift.missing, (remark,))


def take_over(source: Source, position: SourcePosition, around: Surroundings) -> bool:
    """Record a source that was made anew or retyped, and mark its readers for a rebuild."""
    reason = _rebuild_reason(source, position.drift)
    if reason is None:
        return False
    now = {column.name.lower(): column for column in position.description.columns}
    columns = tuple(
        Column(new.name, new.type, new.nullable) if (new := now.get(old.name.lower())) else old
        for old in source.columns
    )
    became = replace(source, columns=columns, delta_table_id=position.description.table_id)
    around.catalog.update_source(
        became, rebuild=reason, at=around.clock(), made_anew=position.drift.anew
    )
    around.watch.forget(source.id)
    return True


def _rebuild_reason(source: Source, drift: Drift) -> str | None:
    if drift.recreated:
        return f'the table of source "{source.name}" was made anew'
    if drift.put_back:
        return f'the table of source "{source.name}" was put back to an earlier version'
    if drift.retyped:
        name, old, new = drift.retyped[0]
        return f'column "{name}" of source "{source.name}" changed from {old} to {new}'
    return None
