"""Queries that are documents themselves: ``own_document="drop"`` leaves them out, as BEIR does."""

import math
import re
from pathlib import Path

import pytest

from pytest_rankcheck import (
    Conventions,
    Evaluation,
    GoldenSet,
    Run,
    assert_at_least,
    compare,
    evaluate,
    evaluate_part,
)
from pytest_rankcheck.reports.findings import Topic
from pytest_rankcheck.reports.text.measurement_notes import document_notes, evaluation_notes
from tests.libraries import forms
from tests.run_forms import RUN_FORMS, run_form

GOLDEN = GoldenSet.from_dict({"a1": {"b1": 1}, "a2": {"b2": 1}, "7": {"b3": 1, "b4": 1}})
RANKINGS = {"a1": ["a1", "b1", "c"], "a2": ["c", "a2", "b2", "d"], "7": ["b3", "7", "b4", "d"]}
DROP = Conventions(own_document="drop")
KEPT = {
    "RR": (1 / 2 + 1 / 3 + 1) / 3,
    "AP": (1 / 2 + 1 / 3 + (1 + 2 / 3) / 2) / 3,
    "NumRet": 11 / 3,
}
DROPPED = {"RR": (1 + 1 / 2 + 1) / 3, "AP": (1 + 1 / 2 + 1) / 3, "NumRet": 8 / 3}


OF_A_NUMBER = {**RANKINGS, "7": ["b3", 7, "b4", "d"]}
"""The own id of a query is a number among the documents."""


@pytest.mark.parametrize("form", forms(*RUN_FORMS, "a number"))
def test_the_own_document_is_left_out_of_every_form(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "a number":
        run = Run.from_dict(OF_A_NUMBER)
    else:
        run = run_form(form, monkeypatch)(RANKINGS, tmp_path)
    for conventions, means in ((None, KEPT), (DROP, DROPPED)):
        evaluation = evaluate(run, GOLDEN, conventions=conventions)
        merged = Evaluation.merge([evaluate_part(run, GOLDEN, conventions=conventions)], GOLDEN)
        for each in (evaluation, merged):
            assert {name: each.mean(name) for name in means} == pytest.approx(means)
            shown = ("b1", "c") if conventions else ("a1", "b1", "c")
            assert tuple(each.ranking("a1")) == shown
            assert each.ranks("7")["b4"] == (2 if conventions else 3)
        cut = evaluate(run.top(2), GOLDEN, conventions=conventions)
        assert cut.mean("NumRet") == 2, "a cut run is cut after the document is left out"
    assert tuple(run["a1"]) == ("a1", "b1", "c")


def test_the_number_is_that_of_beir() -> None:
    """Each query finds itself first and then its only answer: 1 in BEIR."""
    golden = GoldenSet.from_dict({f"q{n}": {f"d{n}": 1} for n in range(20)})
    run = Run.from_dict({f"q{n}": [f"q{n}", f"d{n}"] for n in range(20)})
    assert evaluate(run, golden).mean("nDCG@10") == pytest.approx(1 / math.log2(3))
    assert evaluate(run, golden, conventions=DROP).mean("nDCG@10") == 1
    other = Run.from_dict({f"q{n}": [f"d{n}", "x", f"q{n}"] for n in range(20)})
    assert evaluate([run, other], golden, conventions=DROP).mean("nDCG@10") == 1


def notes_of(evaluation: Evaluation) -> dict[str, Topic]:
    notes = [*evaluation_notes(evaluation), *document_notes(evaluation)]
    return {note.text: note.topic for note in notes if "with their own id" in note.text}


def test_a_note_says_where_it_would_change_a_number() -> None:
    said = (
        "3 of 3 queries rank a document with their own id: a1, a2, 7; if it is the query itself, "
        "own_document=drop (rankcheck_conventions) leaves it out, as BEIR does"
    )
    evaluation = evaluate(Run.from_dict(RANKINGS), GOLDEN)
    assert notes_of(evaluation) == {f"golden set 'golden set': {said}": Topic.MISLEADING}
    with pytest.raises(AssertionError, match=f"\n  {re.escape(said)}\n"):
        assert_at_least(evaluation, "RR", 0.9)
    assert not notes_of(evaluate(Run.from_dict(RANKINGS), GOLDEN, conventions=DROP))
    one = Run.from_dict({"a1": ["a1", "b1"], "a2": ["b2"], "7": ["b3"]})
    assert [*notes_of(evaluate(one, GOLDEN)).values()] == [Topic.MEASURED]
    itself = GoldenSet.from_dict({"a1": {"a1": 1}})
    assert not notes_of(evaluate(Run.from_dict({"a1": ["a1"]}), itself))


def test_a_record_names_it_only_where_it_is_dropped() -> None:
    assert "own_document" not in Conventions().to_dict()
    assert DROP.to_dict()["own_document"] == "drop"
    assert Conventions.from_dict(DROP.to_dict()) == DROP
    run = Run.from_dict(RANKINGS)
    comparison = compare(evaluate(run, GOLDEN, conventions=DROP), evaluate(run, GOLDEN))
    assert comparison.query_ids
