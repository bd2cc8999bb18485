"""What refreshes need of one compiled query, made or found when it is first asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from threading import RLock

from streamtables.compiler import Plan
from streamtables.compiler.backend.statement import Program
from streamtables.compiler.maintenance import ChangedTables, Limits
from streamtables.compiler.plan_facts import PlanFacts
from streamtables.positions import InputId
from streamtables.refresh.plan_cache.basis import Basis
from streamtables.refresh.plan_cache.levels import Levels
from streamtables.refresh.plan_cache.records import FACTS, RecordName


class KeptPlan:
    """One plan; threads share it, and each of its programs is made once.

    The query is compiled only where a part is kept nowhere, or the plan itself is asked for.
    """

    def __init__(self, table_id: InputId, basis: Basis, levels: Levels, limits: Limits) -> None:
        self._table_id = table_id
        self._basis = basis
        self._levels = levels
        self._limits = limits
        self._fingerprint = basis.fingerprint()
        self._facts: PlanFacts | None = None
        self._tree: Plan | None = None
        self._programs: dict[str, Program] = {}
        self._lock = RLock()

    @property
    def facts(self) -> PlanFacts:
        """The facts of the plan."""
        with self._lock:
            if self._facts is None:
                name = self._name(FACTS)
                found = self._levels.facts(name)
                if found is None:
                    found = PlanFacts.of(self.tree)
                    self._levels.save(name, found)
                self._facts = found
            return self._facts

    @property
    def tree(self) -> Plan:
        """The plan itself, compiled; explaining and making new programs need it."""
        with self._lock:
            if self._tree is None:
                self._levels.counts.parsed()
                self._tree = self._basis.compile()
            return self._tree

    @property
    def query(self) -> Program:
        """The program that computes the visible rows from the tables after a change."""
        return self._program("query", lambda: self.tree.query_program())

    @property
    def stored(self) -> Program:
        """The program that computes all stored rows from the tables after a change."""
        if self.facts.form is None:
            return self.query
        return self._program("stored", lambda: self.tree.filling.full())

    @property
    def state_rows(self) -> Program:
        """The program that makes stored rows of new state."""
        return self._program("state-rows", lambda: self.tree.maintenance.state_rows)

    def lost_groups(self, *, found: bool = False) -> Program:
        """Return the program that computes the stored rows of groups anew, by their keys."""
        limits = self._limits
        part = f"lost-groups{'-found' if found else ''}-{limits.join_inputs}-{limits.scans}"
        return self._program(
            part,
            lambda: self._restricted(self.tree.names, found=found).lost_groups,
        )

    def changes(self, changed: frozenset[str], *, small: bool, found: bool = False) -> Program:
        """Return the program of a refresh in which only these tables changed.

        Of small changes stored rows are combined apart; else it gives the whole signed change.
        With `found`, rows that the changes name are read in the place of their tables.
        """
        limits = self._limits
        basis = [f"{limits.join_inputs} {limits.scans}", *sorted(changed)]
        tables = hashlib.sha256("\0".join(basis).encode()).hexdigest()[:32]
        size = "found" if found else "small" if small else "large"
        return self._program(
            f"changes-{size}-{tables}", lambda: self._delta(changed, small=small, found=found)
        )

    def _delta(self, changed: frozenset[str], *, small: bool, found: bool) -> Program:
        self._levels.counts.differentiated()
        made = self._restricted(changed, small=small, found=found)
        return made.answer if small else made.whole_delta

    def _restricted(
        self, changed: frozenset[str], *, small: bool = True, found: bool = False
    ) -> ChangedTables:
        kept, limits = self.tree.maintenance, self._limits
        return kept.restricted_to(
            changed,
            small=small,
            before=limits.before(kept.definition),
            scans_at_most=limits.scans,
            found=found,
        )

    def _program(self, part: str, make: Callable[[], Program]) -> Program:
        with self._lock:
            found = self._programs.get(part)
            if found is None:
                name = self._name(part)
                found = self._levels.program(name)
                if found is None:
                    found = make()
                    self._levels.save(name, found)
                self._programs[part] = found
            return found

    def _name(self, part: str) -> RecordName:
        return RecordName(self._table_id, self._fingerprint, part)
