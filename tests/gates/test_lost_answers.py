"""Lost answers: when queries that lost them block, and what is said of it."""

import json
from functools import partial
from pathlib import Path

import pytest
from gated_test import GatedTest, MainBranch
from project import Project

from pytest_rankcheck import (
    ConfigurationError,
    Gate,
    GoldenSet,
    Run,
    Verdict,
    assert_not_regressed,
    compare,
    evaluate,
)
from pytest_rankcheck.baselines.register import Defaults
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.gates.family_decisions import decide_family
from pytest_rankcheck.metrics.metric_names import Metric

Ranks = dict[int, int]
"""The rank of the relevant document of some queries; 0: it is not ranked. All others have it at
rank 1."""


def decided(
    before: Ranks, now: Ranks, *, queries: int = 30, gate: Gate | None = None, clusters: int = 0
) -> Verdict:
    golden = GoldenSet.from_dict(
        {f"q{n}": {f"d{n}": 2, "poor": 0} for n in range(queries)},
        attributes={f"q{n}": {"user": n // max(1, clusters)} for n in range(queries)},
    )
    if clusters:
        golden = golden.clustered("user")

    def run(ranks: Ranks) -> Run:
        rankings = {}
        for n in range(queries):
            ranking = ["poor", *(f"other {place}" for place in range(12))]
            if ranks.get(n, 1):
                ranking.insert(ranks.get(n, 1) - 1, f"d{n}")
            rankings[f"q{n}"] = ranking
        return Run.from_dict(rankings)

    return (gate or Gate.significant()).decide(
        compare(evaluate(run(now), golden), evaluate(run(before), golden)), "RR"
    )


def lost(*queries: int, rank: int = 0) -> Ranks:
    return dict.fromkeys(queries, rank)


def test_three_queries_and_four_per_cent_block() -> None:
    for before, now, options, blocks in (
        ({}, lost(0, 1, 2), {}, True),
        ({}, lost(0, 1), {}, False),
        ({}, lost(0, 1, 2, rank=11), {}, True),  # out of the top ten is lost
        ({}, lost(0, 1, 2, rank=10), {}, False),
        (lost(0, 1, 2, rank=3), lost(0, 1, 2), {}, True),  # among the first three it was found
        (lost(0, 1, 2, rank=4), lost(0, 1, 2), {}, False),
        # one query that gained its answer in the same way
        (lost(9), lost(0, 1, 2), {}, False),
        (lost(9), {**lost(0, 1, 2), **lost(9, rank=4)}, {}, True),
        (lost(9, rank=10), lost(0, 1, 2), {}, True),
        # 4% of 75 queries are three
        ({}, lost(0, 1, 2), {"queries": 75}, True),
        ({}, lost(0, 1, 2), {"queries": 76}, False),
        ({}, lost(0, 1, 2, 3), {"queries": 100}, True),
        # a cluster counts once, among the lost and among the compared
        ({}, lost(0, 1, 2, 3), {"clusters": 3}, False),
        ({}, lost(0, 3, 6), {"clusters": 3}, True),
    ):
        for gate in (Gate.significant(alpha=1e-6), Gate.noninferior(0.9, alpha=1e-6)):
            verdict = decided(before, now, gate=gate, **options)
            assert verdict.loses_answers is blocks
            assert verdict.regressed is blocks
            off = decided(
                before, now, gate=gate_of(f"{gate.text[:-1]}, lost_answers=0)"), **options
            )
            assert not off.regressed
            assert off.lost_answers is None
        assert not decided(before, now, gate=Gate.tolerance(0.9), **options).regressed


def test_of_clusters_it_is_said_that_queries_of_them_lost_their_answers() -> None:
    """The others of a cluster may have kept theirs."""
    found = decided({}, lost(0, 3, 6), clusters=3).lost_answers
    assert found is not None
    assert found.text.startswith("queries of 3 of 10 clusters lost every relevant document")


def test_a_gate_could_have_failed_if_as_many_queries_changed_as_may_lose_their_answers() -> None:
    for gate, queries, could in (
        (Gate.significant(), 30, True),
        (Gate.significant(), 76, False),  # 4% of these are more than three
        (Gate.significant(lost_answers=0), 30, False),
    ):
        verdict = decided({}, lost(0, 1, 2, rank=2), gate=gate, queries=queries)
        assert verdict.overall.futility.startswith("with 3 changed queries")
        assert (not verdict.futility) is could


def test_the_gate_says_how_many() -> None:
    assert decided({}, lost(0), gate=Gate.significant(lost_answers=1), queries=25).regressed
    assert not decided({}, lost(0, 1, 2), gate=Gate.significant(lost_answers=4)).regressed
    assert str(Gate.significant()) == "significant(alpha=0.05, min_drop=0)"
    text = "noninferior(margin=0.02, alpha=0.05, lost_answers=5)"
    assert str(gate_of(text)) == text
    for wrong in (-1, 1.5, True):
        with pytest.raises(ConfigurationError, match="lost_answers"):
            Gate.significant(lost_answers=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("own", "other", "is_strict"),
    [(3, 3, True), (2, 3, True), (4, 3, False), (0, 3, False), (3, 0, True), (0, 0, True)],
)
def test_fewer_lost_answers_are_stricter_and_none_are_the_loosest(
    own: int, other: int, is_strict: bool
) -> None:
    gates = [Gate.significant(lost_answers=number) for number in (own, other)]
    assert gates[0].is_at_least_as_strict_as(gates[1]) is is_strict


def test_neither_min_drop_nor_a_mean_that_rose_lets_them_pass() -> None:
    assert decided({}, lost(0, 1, 2), gate=Gate.significant(min_drop=0.5)).regressed
    better = decided(dict.fromkeys(range(5, 30), 2), lost(0, 1, 2))
    assert better.regressed
    assert better.overall.pairs.gain > 0
    assert better.leading is better.overall


def test_it_is_decided_once_for_all_metrics_of_an_assertion() -> None:
    """Also for one that did not change; a gate that does not look for them is left alone."""
    golden = GoldenSet.from_dict({f"q{n}": {f"d{n}": 1} for n in range(30)})
    before, now = (
        evaluate(
            Run.from_dict({f"q{n}": [f"d{n}"] if n >= gone else ["x"] for n in range(30)}), golden
        )
        for gone in (0, 4)
    )
    gates = {
        "RR": Gate.significant(lost_answers=9),
        "P@5": Gate.significant(lost_answers=4),
        "R@5": Gate.significant(lost_answers=0),
    }
    verdicts = decide_family(
        compare(now, before), {Metric.parse(name): gate for name, gate in gates.items()}
    )
    by_name = {str(metric): verdict for metric, verdict in verdicts.items()}
    assert by_name["RR"].lost_answers == by_name["P@5"].lost_answers
    assert [by_name[name].regressed for name in ("RR", "P@5", "R@5")] == [True, True, False]


# --- with a record -------------------------------------------------------------------------------

LOST = dict.fromkeys(range(4), None)


@pytest.fixture
def gated(tmp_path: Path) -> GatedTest:
    """RR and P@1 of 30 queries must not fall significantly."""
    gated = GatedTest(tmp_path)
    gated.golden(Project.queries(30))
    gate = Gate.significant()
    gated.assertions = (partial(assert_not_regressed, metric=["RR", "P@1"], gate=gate),)
    gated.update()
    return gated


def test_a_failure_says_so_and_names_them(gated: GatedTest) -> None:
    gated.rank(LOST)
    said = "4 of 30 queries lost every relevant document of their top 10 (one was in the first 3), "
    for name, text in gated.run().outputs.items():
        assert said in text, name
        assert 'q000 "query 0"' in text.replace('\\"', '"').replace("&#34;", '"'), name


def test_a_metric_that_did_not_fall_is_not_called_regressed(gated: GatedTest) -> None:
    """Where one metric regressed too, the other one fails for the lost answers alone."""
    gate = Gate.significant()
    gated.assertions = (partial(assert_not_regressed, metric=["RR", "P@12"], gate=gate),)
    gated.update()
    gated.rank({**dict.fromkeys(range(4), 11), **dict.fromkeys(range(4, 12), 3)})
    outcome = gated.run()
    assert outcome.failure.startswith("1 of 2 metrics regressed on golden set 'web'")
    assert outcome.table["RR"].endswith("FAILED: regressed")
    assert outcome.table["P@12"].endswith("FAILED: lost answers")


def test_its_keys_are_falls_of_the_metrics_of_the_assertion(gated: GatedTest) -> None:
    main = MainBranch(gated.path.read_text("utf-8"))
    gated.rank(LOST)
    assert not gated.run(update=True).passed
    assert gated.run(approve="no longer sold", main=main).passed
    (approval,) = gated.record["approvals"]
    assert {*approval["keys"]} >= {"fall:RR", "fall:P@1"}
    assert gated.run(main=main).passed
    gated.rank({**LOST, 4: None, 5: None})
    assert not gated.run(main=main).passed, "it covers nothing worse"


def test_a_gate_that_looks_for_fewer_is_looser(gated: GatedTest) -> None:
    gated.rank(LOST)
    gate = Gate.significant(lost_answers=0)
    gated.assertions = (partial(assert_not_regressed, metric=["RR", "P@1"], gate=gate),)
    outcome = gated.run()
    assert "this passes only with a looser gate" in outcome.failure


def test_a_record_that_keeps_fewer_documents_cannot_tell_and_says_so(gated: GatedTest) -> None:
    said = "the baseline keeps fewer than 10 documents of a ranking"
    for kept, rank in ((9, None), (10, 11)):
        gated.defaults = Defaults(kept_depth=kept)
        gated.rank({})
        gated.run(approve=f"keeps {kept}")
        gated.rank(dict.fromkeys(range(4), rank))
        outcome = gated.run()
        assert outcome.passed is (kept == 9)
        report = json.loads(outcome.outputs["json"])
        notes = json.dumps(report["notes"])
        assert (said in notes) is (kept == 9)
