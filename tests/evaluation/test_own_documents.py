"""Queries that are documents themselves: ``own_document="drop"`` leaves them out, as BEIR does."""

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
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
from pytest_rankcheck.files import packed_files
from pytest_rankcheck.reports.findings import Topic
from pytest_rankcheck.reports.text.measurement_notes import document_notes, evaluation_notes
from tests.libraries import NEEDS_POLARS

GOLDEN = GoldenSet.from_dict({"a1": {"b1": 1}, "a2": {"b2": 1}, "7": {"b3": 1, "b4": 1}})
SCORES: Mapping[str, dict[Any, float]] = {
    "a1": {"a1": 9.0, "b1": 8.0, "c": 7.0},
    "a2": {"c": 9.0, "a2": 8.0, "b2": 7.0, "d": 6.0},
    "7": {"b3": 9.0, "7": 8.0, "b4": 7.0, "d": 6.0},
}
DROP = Conventions(own_document="drop")
KEPT = {
    "RR": (1 / 2 + 1 / 3 + 1) / 3,
    "AP": (1 / 2 + 1 / 3 + (1 + 2 / 3) / 2) / 3,
    "NumRet": 11 / 3,
}
DROPPED = {"RR": (1 + 1 / 2 + 1) / 3, "AP": (1 + 1 / 2 + 1) / 3, "NumRet": 8 / 3}
ROWS = [(query, doc, score) for query, docs in SCORES.items() for doc, score in docs.items()]


def of_dicts(folder: Path) -> Run:
    return Run.from_dict(SCORES)


def of_numbers(folder: Path) -> Run:
    """The own id of a query is a number among the documents."""
    return Run.from_dict({**SCORES, "7": {"b3": 9.0, 7: 8.0, "b4": 7.0, "d": 6.0}})


def of_lists(folder: Path) -> Run:
    ranked = {query: list(docs) for query, docs in SCORES.items()}
    return Run.from_dict(ranked)


def of_frame(folder: Path) -> Run:
    return Run.from_frame(pd.DataFrame(ROWS, columns=["query_id", "doc_id", "score"]))


def of_polars(folder: Path) -> Run:
    import polars as pl

    return Run.from_frame(pl.DataFrame(ROWS, schema=["query_id", "doc_id", "score"], orient="row"))


def of_ranks(folder: Path) -> Run:
    rows = [
        (query, doc, rank) for query, docs in SCORES.items() for rank, doc in enumerate(docs, 1)
    ]
    return Run.from_frame(pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"]))


def of_file(folder: Path) -> Run:
    of_dicts(folder).save(folder / "found.run")
    return Run.load(folder / "found.run")


def of_scanned_file(folder: Path) -> Run:
    of_dicts(folder).save(folder / "found.run")
    return Run.scan(folder / "found.run")


FORMS: list[Any] = [of_dicts, of_numbers, of_lists, of_frame, of_ranks, of_file, of_scanned_file]


@pytest.mark.parametrize("make", [*FORMS, pytest.param(of_polars, marks=NEEDS_POLARS)])
def test_the_own_document_is_left_out_of_every_form(
    make: Callable[[Path], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_files, "LARGE_FILE", 0)
    run = make(tmp_path)
    for conventions, means in ((None, KEPT), (DROP, DROPPED)):
        evaluation = evaluate(run, GOLDEN, conventions=conventions)
        merged = Evaluation.merge([evaluate_part(run, GOLDEN, conventions=conventions)], GOLDEN)
        for each in (evaluation, merged):
            assert {name: each.mean(name) for name in means} == pytest.approx(means)
            shown = ("b1", "c") if conventions else ("a1", "b1", "c")
            assert tuple(each.ranking("a1")) == shown
            assert each.ranks("7")["b4"] == (2 if conventions else 3)
    assert tuple(run["a1"]) == ("a1", "b1", "c")


def test_the_number_is_that_of_beir() -> None:
    """Each query finds itself first and then its only answer: 1 in BEIR."""
    golden = GoldenSet.from_dict({f"q{n}": {f"d{n}": 1} for n in range(20)})
    run = Run.from_dict({f"q{n}": [f"q{n}", f"d{n}"] for n in range(20)})
    assert evaluate(run, golden).mean("nDCG@10") == pytest.approx(1 / math.log2(3))
    assert evaluate(run, golden, conventions=DROP).mean("nDCG@10") == 1
    other = Run.from_dict({f"q{n}": [f"d{n}", "x", f"q{n}"] for n in range(20)})
    assert evaluate([run, other], golden, conventions=DROP).mean("nDCG@10") == 1


def test_a_cut_run_is_cut_after_the_document_is_left_out(tmp_path: Path) -> None:
    for make in FORMS:
        evaluation = evaluate(make(tmp_path).top(2), GOLDEN, conventions=DROP)
        assert evaluation.mean("NumRet") == 2, make


def notes_of(evaluation: Evaluation) -> dict[str, Topic]:
    notes = [*evaluation_notes(evaluation), *document_notes(evaluation)]
    return {note.text: note.topic for note in notes if "with their own id" in note.text}


def test_a_note_says_where_it_would_change_a_number() -> None:
    said = (
        "3 of 3 queries rank a document with their own id: a1, a2, 7; if it is the query itself, "
        "own_document=drop (rankcheck_conventions) leaves it out, as BEIR does"
    )
    evaluation = evaluate(of_lists(Path()), GOLDEN)
    assert notes_of(evaluation) == {f"golden set 'golden set': {said}": Topic.MISLEADING}
    with pytest.raises(AssertionError, match=f"\n  {re.escape(said)}\n"):
        assert_at_least(evaluation, "RR", 0.9)
    assert not notes_of(evaluate(of_lists(Path()), GOLDEN, conventions=DROP))
    one = Run.from_dict({"a1": ["a1", "b1"], "a2": ["b2"], "7": ["b3"]})
    assert [*notes_of(evaluate(one, GOLDEN)).values()] == [Topic.MEASURED]
    itself = GoldenSet.from_dict({"a1": {"a1": 1}})
    assert not notes_of(evaluate(Run.from_dict({"a1": ["a1"]}), itself))


def test_a_record_names_it_only_where_it_is_dropped() -> None:
    assert "own_document" not in Conventions().to_dict()
    assert DROP.to_dict()["own_document"] == "drop"
    assert Conventions.from_dict(DROP.to_dict()) == DROP
    run = of_lists(Path())
    comparison = compare(evaluate(run, GOLDEN, conventions=DROP), evaluate(run, GOLDEN))
    assert comparison.query_ids
