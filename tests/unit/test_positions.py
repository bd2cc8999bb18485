"""The rules of positions, one by one; `tests/properties` tests them together."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from streamtables.errors import EnvironmentFaultError
from streamtables.positions import (
    COPY,
    Adopt,
    Clean,
    CommitFacts,
    CommitStamp,
    Frontier,
    InputId,
    Landed,
    MirrorStanding,
    NotWritten,
    PgPosition,
    RefreshId,
    Sequence,
    Standing,
    Superseded,
    Tampered,
    Version,
    classify_log,
    decide_current,
    judge_mirror,
    judge_write,
    last_row_change,
    next_base_frontier,
    pins_at_least,
)

TABLE = InputId("table")
NOW = datetime(2030, 1, 1, tzinfo=UTC)


def at(**versions: int) -> Frontier:
    return Frontier.from_dict(versions)


def stamp(sequence: int, refresh: str = "", table: InputId = TABLE) -> CommitStamp:
    refresh_id = RefreshId(refresh or f"r{sequence}")
    frontier = at(orders=sequence)
    return CommitStamp(
        table, Sequence(sequence), refresh_id, frontier, frontier, "differential", "hash"
    )


def refresh(version: int, sequence: int, name: str = "") -> CommitFacts:
    return CommitFacts(Version(version), stamp(sequence, name), changes_rows=True)


def upkeep(version: int, restated: CommitStamp | None = None) -> CommitFacts:
    return CommitFacts(Version(version), restated, changes_rows=False, is_maintenance=True)


def foreign(version: int, *, changes_rows: bool = True) -> CommitFacts:
    return CommitFacts(Version(version), None, changes_rows)


def judged(*entries: CommitFacts, sequence: int = 1) -> Clean | Adopt | Tampered:
    recorded = RefreshId(f"r{sequence}") if sequence else None
    return classify_log(entries, TABLE, Sequence(sequence), recorded)


STANDING = Standing.from_stamp(stamp(1), Version(1), NOW)


class TestClassifyLog:
    def test_an_empty_log_is_clean(self):
        assert judged() == Clean()

    def test_maintenance_and_commits_without_rows_are_clean(self):
        assert judged(upkeep(2), upkeep(3, stamp(1)), foreign(4, changes_rows=False)) == Clean()

    def test_the_last_refresh_is_adopted(self):
        log = (refresh(2, 2), upkeep(3, stamp(2)), refresh(4, 3), upkeep(5))
        assert judged(*log) == Adopt(stamp(3), Version(4))

    def test_a_table_that_was_never_recorded_is_adopted_from_its_first_refresh(self):
        log = (foreign(0, changes_rows=False), refresh(1, 1))
        assert judged(*log, sequence=0) == Adopt(stamp(1), Version(1))

    def test_a_foreign_commit_is_found_also_below_our_own(self):
        assert judged(foreign(2), refresh(3, 2)) == Tampered(Version(2))
        assert judged(refresh(2, 2), foreign(3)) == Tampered(Version(3))

    def test_the_stamp_of_another_table_is_foreign(self):
        copied = CommitFacts(Version(2), stamp(2, table=InputId("other")), changes_rows=True)
        assert judged(copied) == Tampered(Version(2))

    @pytest.mark.parametrize("sequence", [1, 3])
    def test_a_sequence_that_repeats_or_skips_is_foreign(self, sequence):
        assert judged(refresh(2, sequence)) == Tampered(Version(2))

    def test_maintenance_that_changes_rows_is_foreign(self):
        entry = CommitFacts(Version(2), stamp(1), changes_rows=True, is_maintenance=True)
        assert judged(entry) == Tampered(Version(2))

    def test_maintenance_restates_the_refresh_below_it_and_no_other(self):
        assert judged(upkeep(2, stamp(1, "another"))) == Tampered(Version(2))
        assert judged(refresh(2, 2), upkeep(3, stamp(1))) == Tampered(Version(3))


class TestJudgeWrite:
    def test_our_entry_in_the_log_has_landed(self):
        assert judge_write([refresh(2, 2)], STANDING, stamp(2)) == Landed(Version(2))
        assert judge_write([refresh(0, 1)], None, stamp(1)) == Landed(Version(0))

    def test_it_has_landed_also_when_others_went_on(self):
        log = [refresh(2, 2), upkeep(3, stamp(2)), refresh(4, 3)]
        assert judge_write(log, STANDING, stamp(2)) == Landed(Version(2))

    def test_the_sequence_of_another_attempt_supersedes_ours(self):
        log = [refresh(2, 2, "theirs"), refresh(3, 3)]
        assert judge_write(log, STANDING, stamp(2)) == Superseded(stamp(3), Version(3))

    def test_a_write_that_is_not_in_the_log_did_not_happen(self):
        assert judge_write([], STANDING, stamp(2)) == NotWritten()
        assert judge_write([upkeep(2)], STANDING, stamp(2)) == NotWritten()
        assert judge_write([refresh(2, 2, "theirs")], STANDING, stamp(3)) == NotWritten()

    def test_a_write_over_a_foreign_commit_is_tampered(self):
        assert judge_write([foreign(2), refresh(3, 2)], STANDING, stamp(2)) == Tampered(Version(2))


class TestStanding:
    def test_it_says_what_the_commit_says(self):
        assert STANDING.base_frontier == at(orders=1)
        assert STANDING.may_replace(None)

    def test_a_later_commit_counts_even_when_it_stands_for_less(self):
        behind = Standing.from_stamp(stamp(2), Version(2), NOW)
        assert behind.may_replace(STANDING)
        assert not STANDING.may_replace(behind)

    def test_of_one_commit_the_greater_frontier_counts(self):
        def moved(**versions: int) -> Standing:
            return Standing(
                STANDING.version,
                STANDING.sequence,
                STANDING.refresh_id,
                at(**versions),
                at(**versions),
                "hash",
                NOW,
            )

        assert moved(orders=2).may_replace(STANDING)
        assert STANDING.may_replace(STANDING)
        assert not STANDING.may_replace(moved(orders=2))
        assert not moved(orders=2, items=1).may_replace(moved(orders=1, items=2))

    def test_another_refresh_of_the_same_sequence_does_not(self):
        other = Standing.from_stamp(stamp(1, "another"), Version(1), NOW)
        assert not other.may_replace(STANDING)


class TestPins:
    def test_a_new_version_stands_for_what_its_inputs_stand_for(self):
        left, right = at(orders=3, items=2), at(orders=3, customers=5)
        joined = next_base_frontier([left, right], at(prices=1))
        assert joined == at(orders=3, items=2, customers=5, prices=1)
        assert next_base_frontier([], at(orders=3)) == at(orders=3)

    def test_inputs_that_disagree_about_a_root_are_not_joined(self):
        assert next_base_frontier([at(orders=3), at(orders=4)], at()) is None
        assert next_base_frontier([at(orders=3)], at(orders=4)) is None

    def test_pins_never_go_back(self):
        pins = pins_at_least(at(orders=3, items=9), [at(orders=5), at(items=4), at(orders=4)])
        assert pins == at(orders=5, items=9)

    def test_a_table_is_current_behind_or_ahead(self):
        assert decide_current(at(orders=3), at(orders=3)) == "current"
        assert decide_current(at(orders=3), at(orders=2)) == "behind"
        assert decide_current(at(orders=3), at()) == "behind"
        assert decide_current(at(orders=3, items=9), at(orders=4, items=1)) == "ahead"
        assert decide_current(at(orders=3), at(orders=3, dropped=1)) == "current"

    def test_pins_name_the_last_version_that_changed_rows(self):
        log = [refresh(4, 1), foreign(5), upkeep(6), foreign(7, changes_rows=False)]
        assert last_row_change(log, otherwise=Version(3)) == 5
        assert last_row_change([upkeep(6)], otherwise=Version(3)) == 3


class TestFrontier:
    def test_it_is_a_value(self):
        assert at(b=1, a=2) == at(a=2, b=1)
        assert hash(at(b=1, a=2)) == hash(at(a=2, b=1))
        assert Frontier.from_dict(at(a=2).to_dict()) == at(a=2)
        assert at(a=2) != {"a": 2}
        assert "a" in at(a=2)
        assert repr(at(a=2)) == "Frontier({'a': 2})"

    def test_it_covers_joins_agrees_and_restricts(self):
        assert at(a=2, b=1).covers(at(a=1))
        assert not at(a=2).covers(at(b=0))
        assert at(a=2).join(at(a=1, b=3)) == at(a=2, b=3)
        assert at(a=2).agrees_with(at(b=3))
        assert not at(a=2).agrees_with(at(a=3))
        assert at(a=2, b=3).restricted_to(frozenset({InputId("b")})) == at(b=3)
        assert at(a=2).with_version(InputId("a"), Version(5)) == at(a=5)


class TestCommitStamp:
    def test_it_survives_the_commit(self):
        assert CommitStamp.from_json(stamp(3).to_json()) == stamp(3)

    @pytest.mark.parametrize("text", ["", "plain words", "[1]", "{}", '{"other": 1}'])
    def test_what_others_write_is_no_stamp(self, text):
        assert CommitStamp.from_json(text) is None

    def test_a_format_of_the_future_is_an_error(self):
        with pytest.raises(EnvironmentFaultError):
            CommitStamp.from_json('{"streamtables": 2}')


def test_a_copy_of_an_empty_table_over_an_empty_mirror_is_not_taken_for_upkeep():
    here = PgPosition("5:5:", "0/10")
    copied = replace(stamp(2), mode=COPY, position=here)
    found = judge_mirror(
        [CommitFacts(Version(1), copied, changes_rows=False, is_maintenance=True)], TABLE, None
    )
    assert isinstance(found, MirrorStanding)
    assert (found.version, found.position) == (1, here)
