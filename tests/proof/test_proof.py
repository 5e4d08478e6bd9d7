"""What gates, floors and expectations say of harms, and of innocent changes of the same size."""

import os
import subprocess
import sys
from collections.abc import Sequence

import pandas as pd
import pytest

from pytest_rankcheck import (
    Comparison,
    ConfigurationError,
    Evaluation,
    Expectation,
    Gate,
    GoldenSet,
    Metric,
    Run,
    compare,
    evaluate,
    evaluate_part,
    prove,
)
from pytest_rankcheck.behaviour.expectation_check import check_expectations
from pytest_rankcheck.explanation.explanation import Bounded
from pytest_rankcheck.proof.gate_questions import (
    Question,
    bound_question,
    expectation_question,
    gate_question,
)
from pytest_rankcheck.proof.harms import harms
from pytest_rankcheck.proof.kept_rankings import KeptRankings
from pytest_rankcheck.proof.proof import Proof, alike, proof_of

NDCG = Metric.parse("nDCG@10")


@pytest.fixture(scope="module")
def significant(measured: Evaluation) -> pd.DataFrame:
    return prove(measured, {"nDCG@10": Gate.significant()})


@pytest.fixture
def unadvised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask no usual gate, which takes most of the time."""
    monkeypatch.setattr("pytest_rankcheck.proof.proof.usual_questions", lambda *_: [])


def names(frame: pd.DataFrame, outcome: str) -> list[str]:
    return frame.index[frame.outcome == outcome].tolist()


def proof(*questions: Question) -> Proof:
    return proof_of(questions)


def outcomes(found: Proof) -> dict[str, str]:
    return {row.harm: row.outcome for row in found.rows}


def test_a_gate_that_blocks_everything_blocks_innocent_changes_too(
    measured: Evaluation, significant: pd.DataFrame
) -> None:
    strict = prove(measured, {"nDCG@10": Gate.tolerance()})
    assert len(names(strict, "blocked")) > len(names(significant, "blocked")) > 5
    assert strict.attrs["innocent"] > 0.3
    assert significant.attrs["innocent"] < 0.06
    assert "only the top 10 retrieved" in names(strict, "survives")
    assert (strict.advice == "").all()  # nothing may be added to what blocks so much


def test_each_row_says_how_far_and_how_often(significant: pd.DataFrame) -> None:
    row = significant.loc["3 of 60 queries find nothing"]
    assert (row.outcome, row.draws, row.blocked) == ("blocked", 12, 12)
    assert row.blocked_by == "lost answers"
    assert (row.metric, row.change) == ("R@20", pytest.approx(-3 / 60))
    row = significant.loc["6 of 60 queries get the answer of another"]
    assert (row.metric, row.change) == ("R@20", pytest.approx(-6 / 60))
    row = significant.loc["typing errors no longer corrected (typo=yes)"]
    assert (row.outcome, row.draws, row.blocked, row.blocked_by) == ("blocked", 1, 1, "nDCG@10")


@pytest.mark.usefixtures("unadvised")
def test_a_harm_is_blocked_from_nine_of_twelve_draws(measured: Evaluation) -> None:
    table = prove(measured, {"RR@3": Gate.significant()})
    drawn = table[(table.draws == 12) & (table.outcome != "harmless")]
    assert {*drawn[drawn.outcome == "blocked"].blocked} >= {9, 12}
    assert (drawn[drawn.outcome == "survives"].blocked < 9).all()
    assert drawn[drawn.outcome == "survives"].blocked.max() > 0


def test_survivors_come_first_and_harmless_harms_last(significant: pd.DataFrame) -> None:
    order = ["survives", "blocked", "harmless"]
    assert significant.outcome.drop_duplicates().tolist() == order
    assert names(significant, "harmless") == [
        "the first two places swapped",  # the answers are on the places 1, 2 and 3 in turn
        "results 11 to 20 in random order",
    ]
    assert significant.loc["results 11 to 20 in random order", "metric"] == ""


@pytest.mark.usefixtures("unadvised")
def test_a_harm_of_a_gated_value_is_not_harmless(measured: Evaluation) -> None:
    table = prove(measured, {"AP": Gate.significant()})
    row = table.loc["results 11 to 20 in random order"]
    assert (row.outcome, row.metric) == ("blocked", "AP")


def test_a_survivor_names_a_gate_that_blocks_it(
    measured: Evaluation, significant: pd.DataFrame
) -> None:
    harm = "only the top 10 retrieved"
    assert significant.loc[harm, "advice"] == "R@20, significant()"
    better = prove(measured, {"nDCG@10": Gate.significant(), "R@20": Gate.significant()})
    assert better.loc[harm, "outcome"] == "blocked"
    assert better.attrs["innocent"] <= 0.06
    assert significant.loc["1 of 60 queries lose all their answers", "advice"] == ""


def test_half_of_a_margin_can_be_advised(measured: Evaluation) -> None:
    table = prove(measured, {"nDCG@3": Gate.tolerance(abs=0.08)})
    assert "nDCG@3, tolerance(abs=0.04, rel=0)" in set(table.advice)


def harmed(measured: Evaluation, harm: str) -> Comparison:
    kept = KeptRankings(measured)
    found = {each.name: each for each in harms(kept)}
    changed = found[harm].changed(kept.generator(harm, 0))
    return compare(kept.evaluated(changed), kept.unharmed)


def test_an_inconclusive_verdict_blocks_only_where_it_fails(measured: Evaluation) -> None:
    change = harmed(measured, "2 of 60 queries lose all their answers")
    gate = Gate.noninferior(margin=0.001, lost_answers=0)
    strict = Gate(gate.rule, inconclusive="fail")
    assert gate_question(measured, {NDCG: gate}).blocked_by(change) == ""
    assert gate_question(measured, {NDCG: strict}).blocked_by(change) == "nDCG@10"


def test_copies_have_the_noise_of_the_replicates_that_were_measured(measured: Evaluation) -> None:
    run, golden = measured.run, measured.golden
    assert run is not None
    assert isinstance(golden, GoldenSet)
    rotated = {query: [*run[query][1:], run[query][0]] for query in run}
    replicates = evaluate([run, Run.from_dict(rotated, depth=20)], golden)
    change = harmed(replicates, "6 of 60 queries get the answer of another")
    allowed = [Gate.tolerance(abs=0.01, noise=noise) for noise in (0, 100)]
    found = [gate_question(replicates, {NDCG: gate}).blocked_by(change) for gate in allowed]
    assert found == ["nDCG@10", ""]


def test_a_slice_that_blocks_is_named(measured: Evaluation) -> None:
    change = harmed(measured, "typing errors no longer corrected (typo=yes)")
    question = gate_question(measured, {NDCG: Gate.tolerance(0.2, min_queries=5)}, "typo")
    assert question.blocked_by(change) == "nDCG@10[typo=yes]"


@pytest.mark.usefixtures("unadvised")
def test_what_blocks_is_named_with_its_test(measured: Evaluation) -> None:
    name = "test_no_regression"
    found = proof(gate_question(measured, {NDCG: Gate.tolerance(0.2)}, name=name))
    by = {row.harm: row.blocked_by for row in found.rows}
    assert by["answers of typo=no halved"] == "test_no_regression: nDCG@10"
    assert by["3 of 60 queries find nothing"] == ""


def bound(measured: Evaluation, limit: float, *, is_floor: bool) -> Question:
    """Bound the mean of all queries, and of those with typing errors."""

    def bounded(evaluation: Evaluation) -> list[Bounded]:
        places = evaluation.places(evaluation.slices("typo")["yes"])
        tested = {"": evaluation.mean(NDCG), "typo=yes": evaluation.mean_at(NDCG, places)}
        return [
            Bounded(label, places, mean, mean, mean >= limit if is_floor else mean <= limit)
            for label, mean in tested.items()
        ]

    return bound_question(measured, NDCG, bounded, limit, is_floor=is_floor)


def test_a_floor_blocks_what_falls_below_it(measured: Evaluation) -> None:
    fewer, typos = "3 of 60 queries find nothing", "typing errors no longer corrected (typo=yes)"
    mean = measured.mean(NDCG)
    low, high = (bound(measured, mean - by, is_floor=True) for by in (0.2, 0.02))
    assert low.blocked_by(harmed(measured, fewer)) == ""
    assert low.blocked_by(harmed(measured, typos)) == "nDCG@10[typo=yes]"
    assert high.blocked_by(harmed(measured, fewer)) == "nDCG@10"


def test_a_ceiling_blocks_what_rises_above_it(measured: Evaluation) -> None:
    change = harmed(measured, "3 of 60 queries find nothing")
    assert isinstance(change.other, Evaluation)
    better = compare(change.other, change.evaluation)
    ceiling = bound(measured, measured.mean(NDCG) + 0.02, is_floor=False)
    assert ceiling.blocked_by(change) == ""
    assert ceiling.blocked_by(better) == "nDCG@10"


def test_a_floor_that_is_broken_already_blocks_nothing(measured: Evaluation) -> None:
    """Else it would block whatever is asked, and all harms would count as noticed."""
    broken = bound(measured, 1.0, is_floor=True)
    assert broken.blocked_by(harmed(measured, "3 of 60 queries find nothing")) == ""


@pytest.mark.usefixtures("unadvised")
def test_a_floor_close_to_the_mean_blocks_innocent_changes(measured: Evaluation) -> None:
    close = proof(bound(measured, measured.mean(NDCG) - 0.001, is_floor=True))
    assert close.innocent > 0.2


def expected(
    measured: Evaluation, golden: GoldenSet, expectations: Sequence[Expectation]
) -> Question:
    assert measured.run is not None
    before = check_expectations(measured.run, golden, expectations)
    return expectation_question(measured, golden, before)


@pytest.mark.usefixtures("unadvised")
def test_an_expectation_sees_its_query_and_is_not_asked_of_innocents(measured: Evaluation) -> None:
    golden = measured.golden
    assert isinstance(golden, GoldenSet)
    all_first = [
        Expectation.in_top(3, f"q{number}-{1 + number % 3}", query=f"q{number}")
        for number in range(60)
    ]
    found = proof(expected(measured, golden, all_first))
    assert outcomes(found)["1 of 60 queries lose all their answers"] == "blocked"
    assert outcomes(found)["only the top 10 retrieved"] == "survives"
    assert found.innocent == 0
    by = {row.harm: row.blocked_by for row in found.rows}
    assert by["typing errors no longer corrected (typo=yes)"] == "expectations"


@pytest.mark.usefixtures("unadvised")
def test_an_expectation_that_fails_already_blocks_nothing(measured: Evaluation) -> None:
    golden = measured.golden
    assert isinstance(golden, GoldenSet)
    never = Expectation.in_top(1, "q1-20", query="q1")
    found = proof(expected(measured, golden, [never]))
    assert "blocked" not in outcomes(found).values()


@pytest.mark.usefixtures("unadvised")
def test_assertions_on_the_same_rankings_are_asked_together(measured: Evaluation) -> None:
    same = evaluate(measured.run, measured.golden)  # type: ignore[arg-type]
    shorter = measured.run.top(2)  # type: ignore[union-attr]
    other = evaluate(shorter, measured.golden)  # type: ignore[arg-type]
    gates = {Metric.parse("RR@2"): Gate.significant()}
    found = [*map(proof_of, alike(gate_question(each, gates) for each in (measured, same, other)))]
    assert len(found) == 2


def test_rankings_that_are_not_kept_cannot_be_harmed(measured: Evaluation) -> None:
    golden, run = measured.golden, measured.run
    assert isinstance(golden, GoldenSet)
    assert run is not None
    merged = Evaluation.merge([evaluate_part(run, golden)], golden)
    with pytest.raises(ConfigurationError, match="'run' has no whole rankings to harm"):
        prove(merged, {"nDCG@10": Gate.significant()})


@pytest.mark.usefixtures("unadvised")
def test_shallow_rankings_are_not_asked_for_deep_metrics() -> None:
    queries = [f"q{number}" for number in range(20)]
    golden = GoldenSet.from_dict({query: {f"{query} 1": 1} for query in queries})
    rankings = {query: [f"{query} {place}" for place in range(5)] for query in queries}
    table = prove(evaluate(Run.from_dict(rankings, depth=5), golden), {"RR": Gate.tolerance()})
    assert set(table.metric) == {"RR", "R@5", ""}


SAME = """
import sys
sys.path.insert(0, "tests/proof")
from conftest import shop
from pytest_rankcheck import Gate, prove
table = prove(shop(20), {"nDCG@10": Gate.significant()})
print(table.to_csv(), table.attrs)
"""


@pytest.mark.usefixtures("unadvised")
def test_innocent_changes_of_a_whole_run_are_measured_on_all_rankings() -> None:
    """Each document is shown to two queries, so one that loses its answer hides none."""
    judged = {f"q{n}": {f"d{n // 2}": 1} for n in range(60)}
    catalogue: dict[str, dict[str, object]] = {f"d{n}": {} for n in range(30)}
    golden = GoldenSet.from_dict(judged, documents=catalogue)
    run = Run.from_dict({query: [*docs] for query, docs in judged.items()}, depth=5)
    asked = list[float]()

    def blocked_by(change: Comparison) -> str:
        asked.extend(side.mean("CatalogCoverage@5") for side in (change.evaluation, change.other))
        return ""

    evaluation = evaluate(run, golden)
    metrics = [Metric.parse("CatalogCoverage@5")]
    proof(Question(evaluation, blocked_by, metrics))
    assert len(asked) > 100
    documents = [30 * value for value in asked]
    assert documents == pytest.approx([round(count) for count in documents])


def test_the_same_input_gives_the_same_table() -> None:
    """Also in another process, in which text has other hashes."""
    tables = {
        subprocess.run(
            [sys.executable, "-c", SAME],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(tables) == 1
    assert "of 20 queries" in tables.pop()
