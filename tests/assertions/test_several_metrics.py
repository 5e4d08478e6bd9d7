"""One assertion on several metrics: one family of decisions, one text."""

import pytest

import pytest_rankcheck
from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    Gate,
    GoldenSet,
    Metric,
    Run,
    assert_at_least,
    assert_at_most,
    assert_ndcg_not_regressed,
    assert_not_regressed,
    compare,
    evaluate,
)
from pytest_rankcheck.gates.family_decisions import decide_family

RR, P1, R3 = (Metric.parse(name) for name in ("RR", "P@1", "R@3"))


def ranked(ranks: dict[int, int], count: int = 40) -> Evaluation:
    """Return an evaluation with the relevant document first, or at the rank of a query."""
    golden = GoldenSet.from_dict(
        {f"q{n}": {"good": 1} for n in range(count)},
        attributes={f"q{n}": {"locale": "de" if n % 2 else "en"} for n in range(count)},
    )
    rankings = {}
    for n in range(count):
        ranking = [f"x{rank}" for rank in range(9)]
        ranking.insert(ranks.get(n, 1) - 1, "good")
        rankings[f"q{n}"] = ranking
    return evaluate(Run.from_dict(rankings), golden)


BEFORE = ranked({})


def test_all_metrics_are_decided_and_reported_in_one_text() -> None:
    worse = ranked(dict.fromkeys(range(20), 2))
    with pytest.raises(AssertionError) as failure:
        assert_not_regressed(worse, BEFORE, ["RR", "P@1", "R@3"])
    text = str(failure.value)
    head, *lines = text.splitlines()
    assert head.startswith("2 of 3 metrics regressed on golden set 'golden set' (40 queries); ")
    assert head.endswith("; allowed: tolerance(abs=0, rel=0)")
    counts = "20 queries worse, 0 better, 20 equal"
    left = "20 relevant documents left the top 1, 0 entered"
    assert lines[:2] == [
        f"  RR    1.0000 -> 0.7500   -0.2500   {counts}",
        f"  P@1   1.0000 -> 0.5000   -0.5000   {counts}; {left}",
    ]
    assert text.count("    q0   RR 1.000 -> 0.500   P@1 1.000 -> 0.000\n") == 1


def test_one_metric_under_two_names_reads_as_it_does_alone() -> None:
    worse = ranked(dict.fromkeys(range(20), 2))
    for metric in ("RR", ["RR"], ("RR", "MRR")):
        with pytest.raises(AssertionError, match=r"^RR regressed on golden set"):
            assert_not_regressed(worse, BEFORE, metric)


def test_several_metrics_share_one_level() -> None:
    """Five queries that fall have mid-p 1/64: of three decisions 3/64, of four more than 5%."""
    worse = ranked({**dict.fromkeys(range(5), 2), 10: 1})
    before = ranked({})
    comparison = compare(worse, before)
    gate = Gate.significant()
    assert gate.decide(comparison, RR).regressed
    others = map(Metric.parse, ("R@1", "Success@1"))
    verdicts = decide_family(comparison, dict.fromkeys((RR, P1, *others), gate))
    assert verdicts[RR].overall.p == 3 / 64  # only three could be decided together
    assert verdicts[RR].decisions == 3
    more = compare(ranked(dict.fromkeys(range(6), 2)), before)
    verdicts = decide_family(more, {RR: gate, P1: gate})
    assert [verdicts[metric].overall.p for metric in (RR, P1)] == [2 / 128, 2 / 128]
    assert verdicts[RR].decisions == 2


def test_metrics_with_different_gates_are_one_family() -> None:
    comparison = compare(ranked(dict.fromkeys(range(6), 2)), BEFORE)
    gates = {RR: Gate.significant(), P1: Gate.noninferior(margin=0.01), R3: Gate.tolerance(abs=0.1)}
    verdicts = decide_family(comparison, gates)
    assert [verdict.decisions for verdict in verdicts.values()] == [2, 2, 2]
    assert verdicts[RR].overall.p == 2 / 128
    assert verdicts[R3].gate == "tolerance(abs=0.1, rel=0)"
    assert list(verdicts) == [RR, P1, R3]


def test_bounds_take_a_mapping_and_report_all_metrics() -> None:
    worse = ranked(dict.fromkeys(range(20), 2))  # RR 0.75, P@1 0.5, R@3 1
    assert_at_least(worse, {"RR": 0.7, P1: 0.5})
    with pytest.raises(AssertionError) as failure:
        assert_at_least(worse, {"RR": 0.8, "P@1": 0.6, "R@3": 1})
    text = str(failure.value)
    assert text.startswith("2 of 3 metrics are beyond their bounds on golden set 'golden set' (40")
    assert "\n  RR    0.7500   must be at least 0.8000\n" in text
    assert "\n  P@1   0.5000   must be at least 0.6000\n" in text
    with pytest.raises(AssertionError, match=r"1 of 2 metrics failed: RR is 0\.7500 on"):
        assert_at_most(worse, {"RR": 0.7, "P@1": 0.5})


def test_a_metric_without_a_limit_is_refused() -> None:
    for hold, message in (
        (lambda: assert_at_least(BEFORE, "RR"), "RR: the minimum is missing"),
        (lambda: assert_at_least(BEFORE, {"RR": 0.5}, 0.5), "each metric its minimum in the map"),
        (lambda: assert_at_most(BEFORE, {}), "each metric its maximum in the mapping"),
        (lambda: assert_at_least(BEFORE, {"RR": 2}), "RR ranges from 0 to 1"),
        (lambda: assert_not_regressed(BEFORE, BEFORE, []), "no metrics are given"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            hold()


# --- min_queries ----------------------------------------------------------------------------------


def test_min_queries_gates_smaller_slices() -> None:
    collapsed = ranked(dict.fromkeys(range(1, 40, 2), 3))  # all 20 German queries
    allowed = Gate.tolerance(abs=0.5)
    assert_ndcg_not_regressed(collapsed, BEFORE, k=10, abs=0.3, by="locale")
    for given in ({"abs": 0.3}, {"gate": Gate.tolerance(abs=0.3)}):
        with pytest.raises(AssertionError, match="regressed in locale=de"):
            assert_ndcg_not_regressed(collapsed, BEFORE, k=10, by="locale", min_queries=20, **given)
    assert_ndcg_not_regressed(collapsed, BEFORE, k=10, gate=allowed, by="locale", min_queries=5)
    pytest_rankcheck.assert_mrr_at_least(collapsed, 0.5, by="locale")
    with pytest.raises(AssertionError, match="locale=de"):
        pytest_rankcheck.assert_mrr_at_least(collapsed, 0.5, by="locale", min_queries=20)
