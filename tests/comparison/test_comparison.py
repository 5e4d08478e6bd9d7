"""A comparison: two evaluations, paired by the queries that did not change."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pytest_rankcheck import (
    Conventions,
    Evaluation,
    GoldenSet,
    GoldenSetError,
    Metric,
    Move,
    Record,
    Run,
    compare,
    evaluate,
)

JUDGED = {query: {"good": 1} for query in "abcde"}
LOCALES = {
    "a": {"locale": "en"},
    "b": {"locale": "en"},
    "c": {"locale": "de"},
    "d": {"locale": "de"},
}
GOLDEN = GoldenSet.from_dict(JUDGED, attributes=LOCALES)


def at(**ranks: int) -> Evaluation:
    """Return an evaluation in which the relevant document of each query has a rank (0: none)."""
    rankings = {
        query: [f"x{i}" for i in range(1, rank or 3)] + ["good"] * (rank > 0)
        for query, rank in ranks.items()
    }
    return evaluate(Run.from_dict(rankings), GOLDEN)


# RR: a 1 -> 1, b 1/2 -> 1, c 1 -> 1/4, d 1/2 -> 0, e 0 (missing) -> 1/5
BEFORE = at(a=1, b=2, c=1, d=2)
AFTER = at(a=1, b=1, c=4, d=0, e=5)


def test_wins_ties_losses_and_differences() -> None:
    comparison = compare(AFTER, BEFORE)
    assert comparison.query_ids == ("a", "b", "c", "d", "e")
    pairs = comparison.values("RR")
    assert (pairs.wins, pairs.ties, pairs.losses) == (2, 1, 2)
    table = comparison.table("RR")
    assert table.columns.tolist() == ["before", "after", "delta"]
    assert table.loc["c"].tolist() == [1, 0.25, -0.75]
    assert table.index.name == "query_id"


def test_an_interval_ends_where_differences_can() -> None:
    """Differences of 0 and -1: t(0.975, 1) = 12.7, so -0.5 +- 6.4 without this."""
    golden = GoldenSet.from_dict({"a": {"x": 1}, "b": {"x": 1}})
    before, now = ({"a": ["x"], "b": rest} for rest in (["x"], ["y"]))
    comparison = compare(*(evaluate(Run.from_dict(each), golden) for each in (now, before)))
    assert comparison.interval("RR") == (-1.0, 1.0)
    assert comparison.values("RR").mean_after == 0.5


def test_p_and_the_interval_of_the_difference() -> None:
    comparison = compare(AFTER, BEFORE)
    # The falls are -1/2, 3/4, 1/2 and -1/5, together 0.55: all 16 choices of their signs are tried,
    # each with an unseen gain of 3/16 as it is, and flipped.
    sums = [a + b + c + d for a, b, c, d in product(*((-x, x) for x in (0.5, 0.75, 0.5, 0.2)))]
    at_least = [sum(total >= least - 1e-9 for total in sums) for least in (0.55, 0.55 - 3 / 8)]
    assert comparison.p("RR") == sum(at_least) / 32
    low, high = comparison.interval("RR")
    differences = [0, 0.5, -0.75, -0.5, 0.2]
    expected = stats.t.interval(0.95, 4, np.mean(differences), stats.sem(differences))
    assert (low, high) == pytest.approx(expected)


def test_the_paired_values_show_the_worst_queries() -> None:
    pairs = compare(AFTER, BEFORE).values("RR")
    assert [pairs.query_ids[place] for place in pairs.worst()] == ["c", "d"]
    assert [pairs.query_ids[place] for place in pairs.worst(1)] == ["c"]
    assert pairs.mean_before == pytest.approx(0.6)
    assert pairs.mean_after == pytest.approx(0.49)
    # (1 + 1 + 1/4 + 0 + 1/5) / 5 - (1 + 1/2 + 1 + 1/2 + 0) / 5 = (2.45 - 3) / 5
    assert pairs.gain == pairs.difference == pytest.approx(-0.11)


def test_rounding_differences_are_ties() -> None:
    """A record keeps six decimals; 1/3 and 0.333333 count as equal."""
    thirds = at(a=3, b=3, c=3, d=3, e=3)
    comparison = compare(thirds, Record.of(thirds, [Metric.parse("RR")]))
    assert comparison.values("RR").ties == 5
    assert comparison.values("RR").difference == 0


def test_only_unchanged_queries_are_paired() -> None:
    before = GoldenSet.from_dict(
        {"same": {"d": 1}, "regraded": {"d": 1}, "reworded": {"d": 1}, "removed": {"d": 1}},
        {"same": "s", "regraded": "r", "reworded": "old"},
    )
    after = GoldenSet.from_dict(
        {"added": {"d": 1}, "reworded": {"d": 1}, "regraded": {"d": 2}, "same": {"d": 1}},
        {"same": "s", "regraded": "r", "reworded": "new"},
        attributes={"same": {"locale": "en"}},
    )
    run = Run.from_dict({query: ["d"] for query in ("same", "added", "removed")})
    comparison = compare(evaluate(run, after), evaluate(run, before))
    assert comparison.query_ids == ("same",)
    assert set(comparison.changed) == {"regraded", "reworded"}
    assert comparison.added == ("added",)
    assert comparison.removed == ("removed",)
    assert comparison.values("RR").query_ids == ("same",)


def test_nothing_in_common_is_an_empty_comparison() -> None:
    other = GoldenSet.from_dict({"z": {"d": 1}})
    comparison = compare(AFTER, evaluate(Run.from_dict({"z": ["d"]}), other))
    assert comparison.query_ids == ()
    assert comparison.values("RR").size == 0
    assert math.isnan(comparison.values("RR").difference)
    assert comparison.table("RR").empty
    assert comparison.by("locale", "RR")["queries"].tolist() == [0, 0, 0]


def test_queries_excluded_on_one_side_are_not_paired() -> None:
    golden = GoldenSet.from_dict({"a": {"d": 1}, "b": {"d": 0}})
    run = Run.from_dict({"a": ["d"], "b": ["d"]})
    excluded = evaluate(run, golden, conventions=Conventions(no_relevant="exclude"))
    assert compare(evaluate(run, golden), excluded).values("RR").query_ids == ("a",)
    assert compare(excluded, evaluate(run, golden)).values("RR").query_ids == ("a",)


def test_slices_are_compared() -> None:
    by = compare(AFTER, BEFORE).by("locale", "RR")
    assert by.index.name == "locale"
    assert by.columns.tolist() == ["before", "after", "delta", "queries", "wins", "ties", "losses"]
    assert by.loc["en"].tolist() == [0.75, 1.0, 0.25, 2, 1, 1, 0]
    assert by.loc["de"].tolist() == [0.75, 0.125, -0.625, 2, 0, 0, 2]
    assert by.loc["(none)"].tolist() == [0.0, 0.2, 0.2, 1, 1, 0, 0]
    with pytest.raises(GoldenSetError, match="no attribute 'market'"):
        compare(AFTER, BEFORE).by("market", "RR")


# --- documents -------------------------------------------------------------------------------------


def test_moved_documents_put_the_relevant_that_fell_first() -> None:
    golden = GoldenSet.from_dict({"q": {"three": 3, "one": 1, "zero": 0, "up": 3}})
    before = evaluate(Run.from_dict({"q": ["three", "one", "zero", "old", "up", "still"]}), golden)
    after = evaluate(Run.from_dict({"q": ["new", "up", "one", "three", "zero", "still"]}), golden)
    comparison = compare(after, before)
    assert comparison.moved("q") == [
        # relevant: by grade, and of those what fell furthest
        Move("three", 3, 1, 4, 10),
        Move("up", 3, 5, 2, 10),
        Move("one", 1, 2, 3, 10),
        # the rest by their rank now; "new" came, "old" is gone
        Move("new", None, None, 1, 10),
        Move("zero", 0, 3, 5, 10),
        Move("old", None, 4, None, 10),
    ]
    moves = comparison.moved("q")
    assert [move.doc_id for move in moves if move.entered] == ["new"]
    assert [move.doc_id for move in moves if move.left] == ["old"]
    # in the top three, "up" is new and "three" is not any more, though both are ranked
    moves = comparison.moved("q", k=3)
    assert [move.doc_id for move in moves if move.entered] == ["up", "new"]
    assert [move.doc_id for move in moves if move.left] == ["three", "zero"]


def test_moves_concern_documents_in_either_top() -> None:
    golden = GoldenSet.from_dict({"q": {"a": 1}})
    before = evaluate(Run.from_dict({"q": list("abcdef")}), golden)
    after = evaluate(Run.from_dict({"q": list("bacdfe")}), golden)
    assert {move.doc_id for move in compare(after, before).moved("q", k=2)} == {"a", "b"}
    assert {move.doc_id for move in compare(after, before).moved("q", k=5)} == {"a", "b", "e", "f"}
    # a fall out of the top k, with its rank below
    (move, *_) = compare(evaluate(Run.from_dict({"q": list("bcda")}), golden), before).moved(
        "q", k=1
    )
    assert move == Move("a", 1, 1, 4, 1)


# --- lower is better -----------------------------------------------------------------------------


def test_a_lower_value_wins_if_lower_is_better() -> None:
    # a 1 -> 1, b 2 -> 1, c 1 -> 4, d 2 -> 3 (one after the two ranked), e 1 (nothing ranked) -> 5
    comparison = compare(AFTER, BEFORE)
    assert comparison.table("FirstRank")["delta"].tolist() == [0, -1, 3, 1, 4]
    pairs = comparison.values("FirstRank")
    assert (pairs.wins, pairs.ties, pairs.losses) == (1, 1, 3)
    assert (pairs.difference, pairs.gain) == (1.4, -1.4)
    assert [pairs.query_ids[place] for place in pairs.worst()] == ["e", "c", "d"]


def test_moves_reach_below_the_top_that_a_scan_keeps(tmp_path: Path) -> None:
    golden = GoldenSet.from_dict({"q": {"d0": 1}})
    ids = [f"d{place}" for place in range(60)]
    for name, docs in (("then", ids), ("now", [*ids[:40], *(f"new{n}" for n in range(20))])):
        Run.from_dict({"q": docs}).save(tmp_path / name)
    now, then = (evaluate(Run.scan(tmp_path / name), golden) for name in ("now", "then"))
    assert compare(now, then).moved("q", 20) == []
    assert not now.run.is_in_memory
    assert sum(move.entered for move in compare(now, then).moved("q", 50)) == 10
    assert len(compare(now, then).moved("q", 60)) == 40


def failing(evaluation: Evaluation, *failed: str) -> Evaluation:
    """Return the evaluation of a ranker that failed on some queries."""
    assert evaluation.run is not None
    run = evaluation.run.with_facts(failed=dict.fromkeys(failed, "TimeoutError"))
    return evaluate(run, evaluation.golden)


def test_queries_that_failed_on_one_side_are_left_out_of_both() -> None:
    now = failing(at(a=1, b=0, c=1, d=2, e=1), "b")
    then = failing(at(a=1, b=1, c=0, d=1, e=1), "c")
    comparison = compare(now, then)
    assert comparison.failed == {"b": "TimeoutError", "c": "TimeoutError"}
    assert comparison.query_ids == ("a", "d", "e")
    assert (now.mean("RR"), then.mean("RR")) == (3.5 / 5, 4 / 5)
    pairs = comparison.values("RR")
    assert (pairs.mean_before, pairs.mean_after) == (1, 2.5 / 3)
    by_locale = comparison.by("locale", "RR")
    assert list(by_locale["queries"]) == [1, 1, 1]
    assert list(by_locale["delta"]) == [0, -0.5, 0]
    # Reordering ties forgets nothing, so a verdict that looks at them compares the same queries.
    run = Run.from_dict({query: {"good": 1.0, "bad": 1.0} for query in "abcde"})
    tied = failing(evaluate(run, GOLDEN), "b")
    assert compare(tied.with_ties("worst"), then).query_ids == comparison.query_ids
