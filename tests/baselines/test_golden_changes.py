"""Sessions and queries that a record loses, and golden sets of another scale."""

import pandas as pd
import pytest

from pytest_rankcheck import (
    Evaluation,
    GoldenSet,
    Metric,
    Record,
    Run,
    SessionLog,
    compare,
    evaluate,
    evaluate_sessions,
)
from pytest_rankcheck.baselines.check import Block, Mode, compared
from pytest_rankcheck.baselines.golden_changes import lost_queries, lost_values
from pytest_rankcheck.baselines.metric_check import MetricAssertion, metric_checks
from pytest_rankcheck.gates.gate import Gate

RR = Metric.parse("SessionRR(abandoned=exclude)")
ERR = Metric.parse("ERR@20")


def sessions(numbers: range, abandoned: int = 0, prefix: str = "s") -> Evaluation:
    """Return the evaluation of sessions that select rank 1; the first ones are abandoned."""
    rows = [
        {
            "session_id": f"{prefix}{number}",
            "event": 1,
            "time": float(number),
            "results": ["a", "b"],
            "selected_rank": 1 if place >= abandoned else None,
        }
        for place, number in enumerate(numbers)
    ]
    frame = pd.DataFrame(rows).astype({"selected_rank": object})
    return evaluate_sessions(
        SessionLog.from_frame(frame, first_rank=1, time_unit="s", selections_where="all")
    )


@pytest.mark.parametrize(
    ("now", "lost", "of"),
    [
        (sessions(range(60)), 0, 60),
        (sessions(range(60), abandoned=58), 58, 60),
        (sessions(range(20, 60)), 20, 60),
        (sessions(range(2)), 58, 60),
        # The same log with more sessions: the new ones do not make up for those that are gone.
        (sessions(range(20, 100)), 20, 60),
        # The next week has other sessions, and may have fewer: the share that counts is compared.
        (sessions(range(30), prefix="t"), 0, 30),
        (sessions(range(30), abandoned=3, prefix="t"), 3, 30),
    ],
)
def test_sessions_that_are_gone_or_do_not_count_are_lost(
    now: Evaluation, lost: int, of: int
) -> None:
    record = Record.of(sessions(range(60)), [RR])
    keys = [*lost_values(record, compare(now, record), RR)]
    expected = [(of, lost)] if lost / of > 0.05 else []
    assert [(key.before, key.after) for key in keys] == expected


@pytest.mark.parametrize(
    ("metric", "block"),
    [
        ("ERR@20", Block.INCOMPARABLE),
        ("ERR(max_grade=5)@20", Block.STALE),
        ("nDCG@10", Block.STALE),
        ("RBP(graded=true)@10", Block.INCOMPARABLE),
        ("RBP@10", Block.STALE),
    ],
)
def test_a_golden_set_of_another_scale_is_not_compared_where_the_metric_depends_on_it(
    metric: str, block: Block
) -> None:
    """The highest grade goes from 2 to 5: the value of every query by ERR changes with it."""
    grades = {f"q{number}": {"a": 2, "b": 1} for number in range(10)}
    run = Run.from_dict({query_id: ["b", "a"] for query_id in [*grades, "new"]})
    record = Record.of(evaluate(run, GoldenSet.from_dict(grades)), [Metric.parse(metric)])
    now = evaluate(run, GoldenSet.from_dict({**grades, "new": {"a": 5}}))
    [check] = metric_checks(
        record, now, [MetricAssertion({Metric.parse(metric): Gate.tolerance(abs=0.01)})]
    )
    assert check.block(Mode()) is block
    if block is Block.INCOMPARABLE:
        [key] = check.changes(block)
        assert "the scale of the golden set was 2 in the baseline and is 5 now" in key.text


@pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")
def test_a_part_is_compared_with_the_whole_in_every_metric() -> None:
    """The part lacks the highest grade, but has the scale of the whole, so ERR has not changed."""
    golden = GoldenSet.from_dict(
        {"high": {"a": 5}, **{f"q{number}": {"a": 2, "b": 1} for number in range(10)}}
    )
    run = Run.from_dict({query_id: ["b", "a"] for query_id in golden.query_ids})
    err = Metric.parse("ERR@20")
    record = Record.of(evaluate(run, golden), [err])
    part = golden.subset([f"q{number}" for number in range(10)])
    [check] = metric_checks(
        record, evaluate(run, part), [MetricAssertion({err: Gate.tolerance(abs=0.01)})]
    )
    assert check.block(Mode()) is Block.STALE
    assert not check.changes(Block.INCOMPARABLE)


def test_a_query_with_much_of_the_weight_is_not_one_of_many() -> None:
    weights = pd.DataFrame(
        {"query_id": [f"q{n}" for n in range(40)], "query": "a", "freq": [100, *[1] * 39]}
    )
    judgments = pd.DataFrame(
        {"query_id": [f"q{n}" for n in range(40)], "doc_id": "good", "relevance": 1}
    )
    golden = GoldenSet.from_frame(judgments, weights).weighted("freq")
    run = Run.from_dict({f"q{n}": ["good"] for n in range(40)})
    record = Record.of(evaluate(run, golden), [Metric.parse("RR")])
    light = golden.subset([f"q{n}" for n in range(39)])
    heavy = golden.subset([f"q{n}" for n in range(1, 40)])
    assert not [*lost_queries(record, light.query_fingerprints)]
    [lost] = lost_queries(record, heavy.query_fingerprints)
    assert lost.text == "1 of 40 queries removed or edited, which have 72% of the weight"
    plain = evaluate(run, GoldenSet.from_frame(judgments, weights))
    _, (state,) = compared(record, plain, [], None)
    assert state.changes[0].text.endswith("query in common: only one of the two is weighted")


def test_a_lost_value_lowers_the_weighted_mean() -> None:
    """FirstRank 10, 1 and 6 with weights 90, 5 and 5, lower is better; the third loses its value.

    Without weights the mean improves, 17/3 = 5.67 -> 11/2 = 5.5. With them it is worse, 935/100 =
    9.35 -> 905/95 = 9.53.
    """
    metric = Metric.parse("FirstRank(missing=omit)")
    ranks = {"q1": 10, "q2": 1, "q3": 6}
    golden = GoldenSet.from_frame(
        pd.DataFrame({"query_id": list(ranks), "doc_id": "good", "relevance": 1}),
        pd.DataFrame({"query_id": list(ranks), "query": "a", "freq": [90, 5, 5]}),
    ).weighted("freq")
    rankings = {
        query_id: [f"d{place}" for place in range(1, rank)] + ["good"]
        for query_id, rank in ranks.items()
    }
    record = Record.of(evaluate(Run.from_dict(rankings), golden), [metric])
    now = evaluate(Run.from_dict({**rankings, "q3": ["d1"]}), golden)
    [check] = metric_checks(record, now, [MetricAssertion({metric: Gate.tolerance(abs=0.5)})])
    assert [key.name for key in check.fell] == [f"fall:{metric}"]


def test_a_lost_value_lowers_the_mean_of_a_slice_alone() -> None:
    """In en the ranks are 1 and 2, and the first loses its value: 1.5 -> 2, though none fell.

    All queries together improve, (1 + 2 + 9 + 9) / 4 = 5.25 -> (2 + 1 + 1) / 3 = 1.33.
    """
    metric = Metric.parse("FirstRank(missing=omit)")
    ranks = {"en1": 1, "en2": 2, "de1": 9, "de2": 9}
    golden = GoldenSet.from_frame(
        pd.DataFrame({"query_id": list(ranks), "doc_id": "good", "relevance": 1}),
        pd.DataFrame({"query_id": list(ranks), "query": "a", "lang": [each[:2] for each in ranks]}),
    )
    rankings = {
        query_id: [f"d{place}" for place in range(1, rank)] + ["good"]
        for query_id, rank in ranks.items()
    }
    gate = Gate.tolerance(min_queries=1)
    before = evaluate(Run.from_dict(rankings), golden)
    record = Record.of(before, {metric: gate.text}, attributes=["lang"])
    better = {**rankings, "de1": ["good"], "de2": ["good"]}
    gates = [MetricAssertion({metric: gate}, ("lang",))]
    [check] = metric_checks(record, evaluate(Run.from_dict(better), golden), gates)
    assert check.is_better
    lost = evaluate(Run.from_dict({**better, "en1": ["d1"]}), golden)
    [check] = metric_checks(record, lost, gates)
    assert check.fell
    assert not check.is_better
