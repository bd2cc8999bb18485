"""`streamtables publication`: give a stream table's changes to others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated

import typer

from streamtables.cli.contract import Changes
from streamtables.cli.invocation import AsJson, TableArgument, Warehouse, opened
from streamtables.cli.plain import pick, to_json
from streamtables.cli.screen import show_json, show_line, show_table
from streamtables.errors import ConfigError

PublicationArgument = Annotated[
    str, typer.Argument(help="Name of the publication.", metavar="PUBLICATION")
]
SubscriberArgument = Annotated[
    str, typer.Argument(help="Name of the subscriber.", metavar="SUBSCRIBER")
]
_WEIGHT = "__st_weight"


def create(
    context: typer.Context,
    name: TableArgument,
    publication: Annotated[
        str | None, typer.Option("--name", help="Name of the publication; the table's without it.")
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Publish the changes of a stream table."""
    with opened(context, warehouse) as db:
        made = db.publish(name, publication)
    show_line(f'the changes of "{name}" are published as "{made.name}"')


def drop(
    context: typer.Context, publication: PublicationArgument, warehouse: Warehouse = None
) -> None:
    """Forget a publication and its subscribers."""
    with opened(context, warehouse) as db:
        db.unpublish(publication)
    show_line(f'publication "{publication}" is gone')


def list_publications(
    context: typer.Context, warehouse: Warehouse = None, as_json: AsJson = False
) -> None:
    """Show publications, their subscribers and how far each is."""
    with opened(context, warehouse) as db:
        found = db.publications()
    if as_json:
        show_json([to_json(item) for item in found])
        return
    rows = []
    for item in found:
        rows.append([item.name, item.table, item.version, "", "", "", item.state, ""])
        for taker in item.subscribers:
            seen = [taker.name, taker.acknowledged, taker.lag_versions, taker.state, taker.note]
            rows.append(["", "", None, *seen])
    columns = ["publication", "table", "version", "subscriber", "has", "lag", "state", "note"]
    show_table(columns, rows, empty="nothing is published")


def subscribe(
    context: typer.Context,
    publication: PublicationArgument,
    subscriber: SubscriberArgument,
    from_version: Annotated[
        str | None, typer.Option("--from", help="now, start or a version.", show_default=False)
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(
            help="Push: kind=postgres, webhook or kafka, and its options as name=value; repeat it."
        ),
    ] = None,
    expire_after: Annotated[
        str | None, typer.Option(help="Keep nothing for it after so long a silence, such as 30d.")
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Register who takes the changes, and from where on."""
    start: str | int | None = from_version
    if from_version is not None and from_version.isdecimal():
        start = int(from_version)
    target = _target(to) if to else None
    with opened(context, warehouse) as db:
        db.subscribe(publication, subscriber, start, to=target, expire_after=expire_after)
    show_line(f'"{subscriber}" takes the changes of "{publication}"')


def unsubscribe(
    context: typer.Context,
    publication: PublicationArgument,
    subscriber: SubscriberArgument,
    warehouse: Warehouse = None,
) -> None:
    """Forget a subscriber; nothing is kept for it any longer."""
    with opened(context, warehouse) as db:
        db.unsubscribe(publication, subscriber)
    show_line(f'"{subscriber}" no longer takes the changes of "{publication}"')


def ack(
    context: typer.Context,
    publication: PublicationArgument,
    subscriber: SubscriberArgument,
    version: Annotated[int, typer.Argument(help="Up to which it has everything.")],
    incarnation: Annotated[
        str | None, typer.Option(help="Of a snapshot: the incarnation that came with it.")
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Say that a subscriber has everything up to a version."""
    with opened(context, warehouse) as db:
        db.acknowledge(publication, subscriber, version, incarnation=incarnation)
    show_line(f'"{subscriber}" has "{publication}" up to version {version}')


def changes(
    context: typer.Context,
    publication: PublicationArgument,
    subscriber: SubscriberArgument,
    limit: Annotated[int, typer.Option(help="About how many rows to show.", min=1)] = 10_000,
    after: Annotated[
        int | None, typer.Option(help="Resume behind this version.", min=0, show_default=False)
    ] = None,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show what a subscriber lacks; with --json one line for each row."""
    with opened(context, warehouse) as db:
        found = db.changes(publication, subscriber, limit, after=after)
        _show_changes(found, as_json=as_json)


def push(
    context: typer.Context,
    publication: Annotated[
        str | None, typer.Argument(help="One publication; all without it.")
    ] = None,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Push to all who are pushed to, now."""
    with opened(context, warehouse) as db:
        done = db.push(publication)
    if as_json:
        show_json([pick(d, "publication", "subscriber", "version", "rows", "error") for d in done])
    else:
        rows = [[d.publication, d.subscriber, d.version, d.rows] for d in done]
        columns = ["publication", "subscriber", "version", "rows"]
        show_table(columns, rows, empty="nothing to push")
    for item in done:
        if item.error is not None:
            raise item.error


def _show_changes(found: Changes, *, as_json: bool) -> None:
    head = pick(found, "publication", "incarnation", "after", "upto", "current", "reset", "key")
    if as_json:
        show_line(json.dumps({"kind": "begin", **head}))
    elif found.reset:
        show_line(f"all rows at version {found.upto}, because {found.reset}")
    else:
        show_line(f"changes after version {found.after} up to {found.upto} of {found.current}")
    total = 0
    for batch in found.batches:
        rows = batch.to_pylist()
        total += len(rows)
        if as_json:
            for row in rows:
                weight = row.pop(_WEIGHT)
                show_line(json.dumps({"kind": "row", "weight": weight, "row": to_json(row)}))
        else:
            show_table(list(batch.schema.names), [list(row.values()) for row in rows])
    if as_json:
        show_line(json.dumps({"kind": "end", "upto": found.upto, "rows": total}))


def _target(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if bad := next((text for text, sign, _ in pairs if not sign), None):
        raise ConfigError(f'"{bad}" is not name=value', hint="Write --to kind=webhook.")
    return {name.strip(): value for name, _, value in pairs}


PUBLICATION_COMMANDS: dict[str, Callable[..., None]] = {
    "create": create,
    "drop": drop,
    "list": list_publications,
    "subscribe": subscribe,
    "unsubscribe": unsubscribe,
    "ack": ack,
    "changes": changes,
    "push": push,
}
