"""Tied scores: in how many queries they matter, and what the order of the tied could make."""

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from verdict_texts import verdict_lines

from pytest_rankcheck import Evaluation, Gate, GoldenSet, Run, compare, evaluate
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes, tie_notes

GOLDEN = GoldenSet.from_dict({"a": {"x": 1, "y": 0}, "b": {"x": 2, "z": 1}, "c": {"x": 1}})
RUN = Run.from_dict(
    {
        "a": {"x": 1.0, "y": 1.0, "n": 1.0, "m": 0.5},  # x is first, second or third
        "b": {"x": 3.0, "n": 2.0, "m": 2.0, "z": 1.0},  # n and m are tied and unjudged
        "c": ["n", "x"],  # no scores, no ties
    }
)


def test_only_ties_with_a_judged_document_that_reach_the_top_count() -> None:
    evaluation = evaluate(RUN, GOLDEN)
    assert evaluation.tied() == ("a",)
    assert evaluation.tied(1) == ("a",)
    late = Run.from_dict({"a": {"n": 2.0, "x": 1.0, "y": 1.0}})
    assert evaluate(late, GOLDEN).tied(1) == ()
    assert evaluate(late, GOLDEN).tied(2) == ("a",)
    assert evaluate(late, GOLDEN).tied(None) == ("a",)


def test_the_range_over_the_orders_of_ties_by_hand() -> None:
    # RR: a is 1 to 1/3, b is 1, c is 1/2.
    assert evaluate(RUN, GOLDEN).tie_range("RR") == pytest.approx(((1 / 3 + 1.5) / 3, 2.5 / 3))
    untied = evaluate(Run.from_dict({"a": ["x"]}), GOLDEN)
    assert untied.tie_range("RR") == (untied.mean("RR"),) * 2


def test_the_range_agrees_with_trying_all_orders() -> None:
    """All orders are tried, one after the other, of rankings with two groups of ties."""
    draw = random.Random(7)
    documents = [f"d{index}" for index in range(6)]
    for _ in range(20):
        grades = {doc: draw.choice([0, 0, 1, 2]) for doc in documents[:5]}
        golden = GoldenSet.from_dict({"q": {**grades, "d0": 1, "absent": 2}})
        scores = {doc: float(draw.choice([1, 2])) for doc in documents}
        groups = [[doc for doc in documents if scores[doc] == score] for score in (2.0, 1.0)]
        orders = itertools.product(*map(itertools.permutations, groups))
        tried = [evaluate(Run.from_dict({"q": [*one, *other]}), golden) for one, other in orders]
        found = evaluate(Run.from_dict({"q": scores}), golden)
        for name in ("RR", "AP", "nDCG@3", "P@2", "ERR", "MeanRank", "RBP(p=0.8)"):
            means = [each.mean(name) for each in tried]
            assert found.tie_range(name) == pytest.approx((min(means), max(means))), name


def test_scores_out_of_order_have_no_ties() -> None:
    run = Run.from_dict({"a": [("y", 1.0), ("x", 2.0), ("n", 2.0)]})
    assert evaluate(run, GOLDEN).tied() == ()


def regressed(evaluation: Evaluation, before: Evaluation, allowed: float) -> tuple[bool, bool]:
    verdict = Gate.tolerance(allowed).decide(compare(evaluation, before), "RR")
    assert verdict.ties is not None
    return verdict.regressed, verdict.ties.decides


def test_a_verdict_that_depends_on_the_order_says_so() -> None:
    before = evaluate(Run.from_dict({"a": ["x"], "b": ["x"], "c": ["n", "x"]}), GOLDEN)
    # 2.5 / 3 before; now between 1.8333 / 3 and 2.5 / 3: a fall of 0 to 0.2222.
    after = evaluate(RUN, GOLDEN)
    assert regressed(after, before, 0.1) == (True, True), "by document id, y comes before x"
    assert regressed(after, before, 0.3) == (False, False)
    verdict = Gate.tolerance().decide(compare(after, before), "RR")
    assert verdict.ties is not None
    assert (verdict.ties.queries, verdict.ties.highest) == (1, pytest.approx(2.5 / 3, abs=1e-6))


def test_ties_that_change_nothing_are_not_mentioned() -> None:
    run = Run.from_dict({"b": {"x": 1.0, "n": 0.5, "z": 0.5}})
    evaluation = evaluate(run, GOLDEN)
    assert evaluation.tied() == ("b",)
    assert Gate.tolerance().decide(compare(evaluation, evaluation), "RR").ties is None


def test_a_constant_scorer_is_mostly_tied() -> None:
    golden = GoldenSet.from_dict({f"q{number}": {"d1": 1} for number in range(4)}, name="shop")
    constant = {query: {f"d{n}": 0.0 for n in range(10)} for query in golden.query_ids}
    evaluation = evaluate(Run.from_dict(constant), golden)
    assert evaluation.source.mostly_tied == ["q0", "q1", "q2", "q3"]
    assert evaluation.mean("RR") == pytest.approx(1 / 9)
    (note,) = tie_notes(evaluation)
    assert note.text == (
        "golden set 'shop': the scores of run 'run' are mostly tied, as in query "
        "'q0'; depending on how ties are ordered, nDCG@10 ranges from 0.2891 to "
        "1.0000 (tie_range); does the ranker return its real scores?"
    )
    assert note in list(evaluation_notes(evaluation))


def test_other_rankings_are_not() -> None:
    golden = GoldenSet.from_dict({"q0": {"d1": 1}, "q1": {"d1": 1}})
    rankings: tuple[Any, ...] = (
        {f"d{n}": (9 - n) / 7 for n in range(10)},  # no ties
        {f"d{n}": max(0, 6 - n) / 7 for n in range(11)},  # fewer than half
        [f"d{n}" for n in range(10)],
        {"d1": 0.0},
        {},
    )
    for ranking in rankings:
        run = Run.from_dict({"q0": ranking, "q1": ["d1", "d2"]})
        assert not evaluate(run, golden).source.mostly_tied


def test_a_range_beside_slices_is_said_to_be_of_all_queries() -> None:
    golden = GoldenSet.from_dict(
        {"q0": {"d1": 1}, "q1": {"d1": 1}},
        attributes={"q0": {"locale": "de"}, "q1": {"locale": "en"}},
    )
    now = evaluate(Run.from_dict({"q0": {"d1": 1.0, "d2": 1.0}, "q1": ["d1"]}), golden)
    then = evaluate(Run.from_dict({"q0": ["d1"], "q1": ["d1"]}), golden)
    gate = Gate.tolerance()
    for by, words in ((None, "RR ranges"), ("locale", "RR of all queries ranges")):
        verdict = gate.decide(compare(now, then), "RR", by=by)
        text = "\n".join(verdict_lines(verdict, compare(now, then)))
        assert f"{words} from 0.7500 to 1.0000" in text


def test_ties_in_a_run_that_is_still_in_its_file_are_read_when_asked_for(tmp_path: Path) -> None:
    constant = {f"q{n}": dict.fromkeys("abcdefgh", 1.0) for n in range(4)}
    Run.from_dict(constant).save(tmp_path / "tied.run")
    golden = GoldenSet.from_dict({query_id: {"a": 1} for query_id in constant})

    def scanned() -> Evaluation:
        return evaluate(Run.scan(tmp_path / "tied.run"), golden)

    evaluation = scanned()
    [note] = tie_notes(evaluation)
    assert note.text.startswith(
        "golden set 'golden set': tied scores were not looked for, because run 'tied.run' is a "
        "large file or was merged from parts; "
    )
    Gate.tolerance(abs=0.5).decide(compare(evaluation, evaluation), "RR")
    assert evaluation.run is not None
    assert not evaluation.run.is_in_memory
    assert evaluation.tie_range("RR") == (1 / 8, 1.0)
    [note] = tie_notes(evaluation)
    assert "are mostly tied, as in query" in note.text
    assert scanned().tied() == tuple(constant)
    assert scanned().source.mostly_tied == list(constant)
