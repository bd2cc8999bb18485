"""How a stream table is kept: one of four forms, chosen once from the shape of its query.

    signed rows      the signed changes of the rows themselves; right for every query
    touched groups   the rows of the touched groups, computed anew; old ones are found by key
    stored state     the change of each group's sums, counts and extremes, put to the stored ones
    first rows       the stored rows and the changes, of which the first are taken

All but the first need a keyed operator at the root; they read less, and are proven against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from streamtables.compiler.algebra import (
    Aggregate,
    Keys,
    Negate,
    Net,
    Node,
    Project,
    Projection,
    Restrict,
    Scan,
    ScanColumn,
    Sum,
    at,
)
from streamtables.compiler.algebra.bounded import works_on_tables
from streamtables.compiler.algebra.held_values import Values, has_every_value, values_of
from streamtables.compiler.algebra.keyed import recomputed, touched_keys
from streamtables.compiler.algebra.node import changes_of
from streamtables.compiler.backend.apart import Apart
from streamtables.compiler.backend.combine import combined_rows
from streamtables.compiler.backend.statement import Program, program, statements_of
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.maintenance.first_rows import FirstRows, first_rows
from streamtables.compiler.maintenance.layout import Layout
from streamtables.compiler.maintenance.root_chain import RootChain, root_chain
from streamtables.compiler.maintenance.stored_state import StoredState, stored_state
from streamtables.compiler.rewrites.before_from_after import before_from_after
from streamtables.compiler.rewrites.filter_before_net import filter_before_net
from streamtables.compiler.rewrites.found_as_asked import found_as_asked
from streamtables.compiler.rewrites.keys_at_hand import keys_at_hand
from streamtables.compiler.rewrites.look_up_rows import look_up_rows
from streamtables.compiler.rewrites.mark_unchanged import mark_unchanged
from streamtables.compiler.rewrites.prune_columns import prune_columns
from streamtables.compiler.rewrites.rebuild import in_order
from streamtables.compiler.rewrites.share_equal import share_equal
from streamtables.compiler.rewrites.trust_netted_changes import trust_netted_changes
from streamtables.compiler.rewrites.weigh_single_rows import weigh_single_rows
from streamtables.compiler.types import has_plain_image

Form = Literal["signed-rows", "touched-groups", "stored-state", "first-rows"]

STORED = "stored"
"""The name under which a stream table's own rows are bound."""

STATE = "state"
"""The name under which the new state of the touched groups is bound."""

LOST = "lost"
"""The name under which the keys of groups are bound whose state does not tell their new row."""


@dataclass(frozen=True, eq=False)
class Maintenance:
    """One table's form, its layout, and the programs that refresh it."""

    definition: Node
    chain: RootChain | None
    state: StoredState | None
    first: FirstRows | None = None

    @classmethod
    def of(cls, definition: Node) -> Maintenance:
        """Choose the form for a definition."""
        chain = root_chain(definition)
        if chain is None:
            return cls(definition, None, None)
        return cls(
            definition, chain, stored_state(definition, chain), first_rows(definition, chain)
        )

    @property
    def form(self) -> Form:
        """The form that was chosen."""
        if self.state is not None:
            return "stored-state"
        if self.first is not None:
            return "first-rows"
        return "touched-groups" if self.chain is not None else "signed-rows"

    @property
    def changed_relation(self) -> Node:
        """The relation whose changes a refresh computes."""
        return self.definition if self.chain is None else self.chain.keyed.inputs[0]

    @cached_property
    def layout(self) -> Layout:
        """What is stored."""
        shown = tuple((c.name, c.type) for c in self.definition.columns if c.name[:5] != "__st_")
        hidden = tuple((c.name, c.type) for c in self.definition.columns if c.name[:5] == "__st_")
        if self.state is not None:
            hidden += tuple((state.name, state.type) for state in self.state.states)
        return Layout(shown, hidden, self.definition.key)

    @cached_property
    def key_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a group column, as the programs name it, and the stored column that holds it."""
        if self.chain is None:
            return ()
        names = {name: name for name in self.chain.keyed.key_columns}
        for node in reversed(self.chain.above):
            passed = getattr(node, "passed", None)
            if passed is not None:
                names = {group: passed[name] for group, name in names.items()}
        return tuple(names.items())

    @cached_property
    def state_rows(self) -> Program:
        """The stored rows of groups whose new state is in the relation `state`."""
        assert self.state is not None
        kept = tuple(Projection(s.name, column(s.name), s.type) for s in self.state.states)
        grouped = tuple(
            ScanColumn(inner, inner, self.definition.type_of(shown))
            for inner, shown in self.state.group
        )
        states = tuple(ScanColumn(s.name, s.name, s.type) for s in self.state.states)
        return program(Project(Scan(STATE, grouped + states, None), self.state.visible + kept))

    def full(self) -> Program:
        """Return the program that computes all stored rows from the tables after the changes."""
        filled = self.state.filled if self.state is not None else self.definition
        return program(at("after", filled))

    def restricted_to(
        self,
        changed: frozenset[str],
        *,
        small: bool = False,
        before: Literal["read", "derived"] = "derived",
        scans_at_most: int | None = None,
        found: bool = False,
    ) -> ChangedTables:
        """Return the programs of a refresh in which only these tables changed."""
        marked = Maintenance.of(mark_unchanged(self.definition, changed))
        return ChangedTables(marked, small, before, scans_at_most, found)


@dataclass(frozen=True, eq=False)
class ChangedTables:
    """The programs of one refresh, for one set of changed tables.

    `small` says that the changes come netted on the columns that are read, and are few.
    `before` is read from an old version, or derived as `after − changes`.  A statement that reads
    more than `scans_at_most` tables is split where a part is as small as the changes.  With `found`
    rows that changes name by a key are looked up first, and read in the place of their tables.
    """

    table: Maintenance
    small: bool = False
    before: Literal["read", "derived"] = "derived"
    scans_at_most: int | None = None
    found: bool = False

    @cached_property
    def touched(self) -> Keys | None:
        """The keys of the touched groups; None where there is no key to find stored rows by."""
        chain = self.table.chain
        if chain is None or not chain.keyed.key_columns:
            return None
        state = self.table.state
        if state is not None and not state.may_lose:
            # Exactly the groups that have contributions: others keep the row that is stored.
            return Keys(changes_of(chain.keyed.input), chain.keyed.key_columns)
        return touched_keys(chain.keyed)

    @property
    def answer(self) -> Program:
        """The program that a refresh of a table of this form runs."""
        match self.table.form:
            case "stored-state":
                return self.contributions
            case "touched-groups":
                return self.new_groups
            case "first-rows":
                return self.candidates
            case "signed-rows":
                return self.signed_rows

    @property
    def statements(self) -> Apart:
        """The statements of `answer`, counted and not written."""
        root = self.relation
        return statements_of(
            root,
            small_changes=self.small,
            wanted=_found(self.touched if self.table.form == "touched-groups" else None, root),
            scans_at_most=self.scans_at_most,
        )

    @property
    def relation(self) -> Node:
        """What `answer` computes, as a plan."""
        if self.table.state is not None:
            return self._ready(self.table.state.contributions, self.before)
        if self.table.first is not None:
            return self._ready(self._candidates(), self.before)
        if self.table.chain is not None:
            return self._ready(self._new_groups(), self.before)
        return self._ready(changes_of(self.table.definition), self.before)

    @cached_property
    def signed_rows(self) -> Program:
        """The signed changes of the stored rows of a table kept by signed rows.

        Where whole tables are computed before and after, most rows are in both, and Spark nets
        them; the few of other changes are netted by whoever reads them.
        """
        changes = changes_of(self.table.definition)
        large = any(works_on_tables(node) for node in in_order(changes))
        return self._program(Net(changes) if large else changes)

    @cached_property
    def contributions(self) -> Program:
        """What the changes add to and take from each group's state."""
        assert self.table.state is not None
        return self._program(self.table.state.contributions)

    @cached_property
    def candidates(self) -> Program:
        """The rows that may be among the first: those stored, in `stored`, and those that came."""
        return self._program(self._candidates())

    @cached_property
    def lost_groups(self) -> Program:
        """The stored rows of the groups whose keys are in the relation `lost`, computed anew.

        Of first rows that the candidates do not tell, all of them.
        """
        if self.table.first is not None:
            return self.new_groups
        state = self.table.state
        assert state is not None
        fields = tuple(
            ScanColumn(inner, inner, self.table.definition.type_of(shown))
            for inner, shown in state.group
        )
        names = tuple(inner for inner, _ in state.group)
        return self._program(self._filled(Keys(Scan(LOST, fields, None), names) if names else None))

    @cached_property
    def touched_groups(self) -> Program:
        """The keys of the touched groups, as a program of its own."""
        assert self.touched is not None
        return self._program(self.touched)

    @cached_property
    def new_groups(self) -> Program:
        """The rows that the touched groups have now; a wanted step gives their keys."""
        return self._program(self._new_groups(), wanted=self.touched)

    @cached_property
    def whole_delta(self) -> Program:
        """The netted signed changes of all stored columns, state included, in SQL alone.

        Stored rows are read from the relation `stored`.  Of a state with extremes all touched
        groups are computed anew: one statement cannot wait to see which of them are lost.
        """
        if self.table.chain is None:
            return self._program(Net(changes_of(self.table.definition)))
        if self.table.state is None:
            new = self._new_groups()
        elif self.table.state.may_lose:
            new = self._filled(self.touched)
        else:
            new = combined_rows(self.table.state)
        return self._program(Net(Sum((new, Negate(self._stored_rows())))))

    def _program(self, root: Node, *, wanted: Keys | None = None) -> Program:
        looked_up = self._looked_up(root, wanted) if self.found else None
        if looked_up is not None:
            return looked_up
        ready = self._ready(root, self.before)
        return program(
            ready,
            small_changes=self.small,
            wanted=_found(wanted, ready),
            scans_at_most=self.scans_at_most,
        )

    def _looked_up(self, root: Node, wanted: Keys | None) -> Program | None:
        """Return a program over found rows; None where it spares Spark no reading of a table."""
        narrowed, book = look_up_rows(self._ready(root, "read"))
        if book.is_empty:
            return None
        rest = before_from_after(narrowed) if self.before == "derived" else narrowed
        ready = self._ready(root, self.before)
        before, after = (statements_of(item, small_changes=self.small) for item in (ready, rest))
        if after.all_scans >= before.all_scans:
            return None
        at_hand = keys_at_hand(rest, _found(wanted, rest))
        # Rewritten by itself: where nothing is restricted by them any more, they are in no plan.
        keys = _found(wanted, at_hand)
        held = _held(None if keys is None else found_as_asked(keys, book))
        asked = share_equal(prune_columns(found_as_asked(at_hand, book)))
        return program(
            asked,
            small_changes=self.small,
            wanted=None if held is not None else _found(wanted, asked),
            scans_at_most=self.scans_at_most,
            lookups=book.lookups(asked),
            keys=held,
        )

    def _ready(self, root: Node, before: Literal["read", "derived"]) -> Node:
        """Return a relation as it is written: with its columns cut, and equal parts as one."""
        ready = weigh_single_rows(filter_before_net(root))
        if before == "derived":
            ready = before_from_after(ready)
        # Small results are netted by whoever writes them.
        ready = trust_netted_changes(ready, root_too=self.small)
        return share_equal(prune_columns(share_equal(ready)))

    def _candidates(self) -> Node:
        first, chain = self.table.first, self.table.chain
        assert first is not None
        assert chain is not None
        columns = self.table.definition.columns
        fields = tuple(ScanColumn(item.name, item.name, item.type) for item in columns)
        # They are few, and on the driver, like rows that were looked up.
        stored = Scan(STORED, fields, self.table.definition.key, version="now", found="now")
        return first.candidates(stored, chain.rebuilt(changes_of(chain.keyed.input)))

    def _new_groups(self) -> Node:
        chain = self.table.chain
        assert chain is not None
        keys = self.touched
        after = at("after", chain.keyed.input)
        groups = recomputed(chain.keyed, keys, after) if keys else chain.keyed.with_inputs(after)
        return chain.rebuilt(groups)

    def _filled(self, keys: Keys | None) -> Node:
        """Return the stored rows of some groups, or of all, with their state."""
        assert self.table.state is not None
        filled = self.table.state.filled
        groups = filled.input
        assert isinstance(groups, Aggregate)
        after = at("after", groups.input)
        return filled.with_inputs(
            recomputed(groups, keys, after) if keys else groups.with_inputs(after)
        )

    def _stored_rows(self) -> Node:
        """Return the stored rows of the touched groups, under the names they are stored with."""
        layout = self.table.layout
        fields = tuple(ScanColumn(name, name, t) for name, t in (*layout.visible, *layout.hidden))
        stored = Scan(STORED, fields, layout.key, version="now")
        keys = self.touched
        if keys is None:
            return stored
        above = dict(self.table.key_pairs)
        on = tuple((above[name], name) for name in keys.key_columns)
        return Restrict(stored, keys, on)


def _found(keys: Keys | None, root: Node) -> Keys | None:
    """Return what became of a key set in a rewritten plan: the last one with its columns."""
    if keys is None:
        return None
    sets = [node for node in in_order(root) if isinstance(node, Keys)]
    return [node for node in sets if node.names == keys.names][-1]


def _held(keys: Node | None) -> tuple[str, Values] | None:
    """Return a key column, and where exactly its values are at hand; None where they are not."""
    if not isinstance(keys, Keys) or len(keys.key_columns) != 1:
        return None
    [name] = keys.key_columns
    values = values_of(keys, name)
    told = has_every_value(keys, name) and has_plain_image(keys.type_of(name))
    return (name, values) if told and values is not None else None
