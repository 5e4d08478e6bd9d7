"""Duplicate documents in rankings: an error, gaps closed, or places kept, however a run is made."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest

from pytest_rankcheck import (
    Conventions,
    Expectation,
    GoldenSet,
    Run,
    compare,
    evaluate,
    rank,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_writer import record_text
from pytest_rankcheck.behaviour.expectation_check import check_expectations
from pytest_rankcheck.behaviour.ranking_stability import stability_of
from pytest_rankcheck.behaviour.stability_limits import StabilityLimits
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import Duplicates, Ties
from pytest_rankcheck.rankers.scanning import trec_blocks

METRICS = ["nDCG@10", "AP", "RR", "R@5", "P@5", "Judged@5", "NumRet", "Bpref", "Distinct@5"]

RULES: list[Duplicates] = ["close_gaps", "keep_places"]

CHUNKS = {"q": ["a"] * 5 + ["b"], "p": ["b", "c", "b", "a", "c", "d"], "o": ["a", "b"]}
GOLDEN = GoldenSet.from_dict(
    {"q": {"b": 1, "x": 1}, "p": {"a": 2, "b": 1, "c": 0, "y": 1, "z": 1}, "o": {"b": 1}},
    queries={"q": "q", "p": "p", "o": "o"},
)


def in_lists(folder: Path, duplicates: Duplicates) -> Run:
    return Run.from_dict(CHUNKS, duplicates=duplicates)


def in_pairs(folder: Path, duplicates: Duplicates) -> Run:
    pairs = {q: [(doc, -float(i)) for i, doc in enumerate(docs)] for q, docs in CHUNKS.items()}
    return Run.from_dict(pairs, duplicates=duplicates)


def from_a_ranker(folder: Path, duplicates: Duplicates) -> Run:
    return rank(CHUNKS.__getitem__, GOLDEN, duplicates=duplicates)


def in_a_frame(folder: Path, duplicates: Duplicates) -> Run:
    rows = [(q, doc, i) for q, docs in CHUNKS.items() for i, doc in enumerate(docs, start=1)]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"])
    return Run.from_frame(frame, duplicates=duplicates)


def _file(folder: Path, ending: str, *, interleaved: bool = False) -> Path:
    file = folder / f"chunks.{ending}"
    Run.from_dict(CHUNKS, duplicates="keep_places").save(file)
    if interleaved:
        lines = file.read_text().splitlines(keepends=True)
        random.Random(1).shuffle(lines)
        file.write_text("".join(lines))
    return file


def _loaded(ending: str) -> Callable[[Path, Duplicates], Run]:
    return lambda folder, duplicates: Run.load(_file(folder, ending), duplicates=duplicates)


def _scanned(ending: str, interleaved: bool = False) -> Callable[[Path, Duplicates], Run]:
    return lambda folder, duplicates: Run.scan(
        _file(folder, ending, interleaved=interleaved), duplicates=duplicates
    )


PATHS = {
    "lists": in_lists,
    "pairs": in_pairs,
    "ranker": from_a_ranker,
    "frame": in_a_frame,
    **{f"{ending} loaded": _loaded(ending) for ending in ("run", "csv", "jsonl", "parquet")},
    **{f"{ending} scanned": _scanned(ending) for ending in ("run", "csv", "jsonl", "parquet")},
    "interleaved lines": _scanned("run", interleaved=True),
    "columns": _scanned("run"),
}


@pytest.fixture(params=PATHS)
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> object:
    if request.param == "columns" or "parquet" in request.param:
        pytest.importorskip("polars", reason="polars is not installed")
    if request.param == "columns":
        monkeypatch.setattr(trec_blocks, "LARGE_FILE_BYTES", 0)
    return PATHS[request.param]


@pytest.mark.parametrize("duplicates", RULES)
def test_every_way_to_make_a_run_gives_the_same_values(
    make: Callable[[Path, Duplicates], Run], tmp_path: Path, duplicates: Duplicates
) -> None:
    table = evaluate(make(tmp_path, duplicates), GOLDEN).table(METRICS)
    expected = evaluate(in_lists(tmp_path, duplicates), GOLDEN).table(METRICS)
    assert table.to_numpy().tolist() == expected.to_numpy().tolist()
    assert make(tmp_path, duplicates).duplicates == duplicates


@pytest.mark.parametrize(
    ("duplicates", "recall", "reciprocal", "precision", "retrieved"),
    [("close_gaps", 0.5, 1 / 2, 1 / 5, 2), ("keep_places", 0.0, 1 / 6, 0.0, 6)],
)
def test_a_chunk_beyond_the_fifth_place_is_not_among_five(
    make: Callable[[Path, Duplicates], Run],
    tmp_path: Path,
    duplicates: Duplicates,
    recall: float,
    reciprocal: float,
    precision: float,
    retrieved: int,
) -> None:
    """The reader of ``["a"] * 5 + ["b"]`` sees five chunks of a, and b is the sixth."""
    values = evaluate(make(tmp_path, duplicates), GOLDEN).table(["R@5", "RR", "P@5", "NumRet"])
    assert values.loc["q"].tolist() == [recall, reciprocal, precision, retrieved]


def test_a_duplicate_is_an_error_that_names_both_rules_and_the_ini_line(
    make: Callable[[Path, Duplicates], Run], tmp_path: Path
) -> None:
    with pytest.raises(Exception, match=r"document '[ab]' is ranked twice, at 1 and ") as failure:
        evaluate(make(tmp_path, "error"), GOLDEN)
    for part in (
        "duplicates='keep_places'",
        "duplicates='close_gaps'",
        "rankcheck_conventions = duplicates=keep_places",
    ):
        assert part in str(failure.value)


def test_every_rule_is_a_convention() -> None:
    for duplicates in get_args(Duplicates):
        assert Conventions(duplicates=duplicates).duplicates == duplicates


def test_kept_places_survive_files_and_cuts(tmp_path: Path) -> None:
    run = in_lists(tmp_path, "keep_places")
    assert run["q"] == ("a", "a", "a", "a", "a", "b")
    assert run.repeated == ("q", "p")
    assert run.top(5)["q"] == ("a",) * 5
    run.save(tmp_path / "again.csv")
    again = Run.load(tmp_path / "again.csv", duplicates="keep_places")
    assert {query: again[query] for query in again} == {query: run[query] for query in run}
    assert Run.load(_file(tmp_path, "run"), duplicates="keep_places").top(5)["p"] == run["p"][:5]


def test_the_depth_counts_the_places_that_are_kept() -> None:
    assert rank(CHUNKS.__getitem__, GOLDEN, 5, duplicates="keep_places")["q"] == ("a",) * 5
    assert rank(CHUNKS.__getitem__, GOLDEN, 5, duplicates="close_gaps")["q"] == ("a", "b")


@pytest.mark.parametrize("ties", get_args(Ties))
def test_the_chunks_of_a_document_are_not_tied_with_each_other(ties: Ties) -> None:
    """Whichever of two chunks of one document comes first, the ranking is the same."""
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "a", "b"], "score": [2.0, 2.0, 1.0]})
    assert Run.from_frame(frame, ties=ties, duplicates="keep_places")["q"] == ("a", "a", "b")


def test_only_different_documents_are_tied() -> None:
    golden = GoldenSet.from_dict({"q": {"a": 1}})
    chunks = [("a", 2.0), ("a", 2.0), ("b", 1.0)]
    run = Run.from_dict({"q": chunks}, duplicates="keep_places")
    assert not run.has_ties("q")
    assert not evaluate(run, golden).tied()
    run = Run.from_dict({"q": [*chunks, ("c", 1.0)]}, duplicates="keep_places")
    assert run.has_ties("q")
    assert not evaluate(run, golden).tied()  # no judged document is tied
    run = Run.from_dict({"q": [("b", 2.0), *chunks]}, duplicates="keep_places")
    assert evaluate(run, golden).tied() == ("q",)


def test_a_rank_is_that_of_the_first_place(tmp_path: Path) -> None:
    evaluation = evaluate(in_lists(tmp_path, "keep_places"), GOLDEN)
    assert evaluation.ranks("p") == {"b": 1, "c": 2, "a": 4, "d": 6}
    others = {**CHUNKS, "p": ["b", "b", "c", "a", "c", "d"]}
    other = evaluate(Run.from_dict(others, duplicates="keep_places"), GOLDEN)
    moved = compare(other, evaluation).moved("p", k=10)
    assert [(move.doc_id, move.before, move.after) for move in moved] == [("c", 2, 3)]


def test_unjudged_chunks_of_one_document_are_one_document_to_judge() -> None:
    before = evaluate(Run.from_dict({"q": ["b"], "p": ["a"], "o": ["b"]}), GOLDEN)
    chunks = {"q": ["n", "n", "b"], "p": ["a"], "o": ["b"]}
    after = evaluate(Run.from_dict(chunks, duplicates="keep_places"), GOLDEN)
    compared = compare(after, before)
    assert compared.unjudged("nDCG@5").documents == compared.unjudged_entered() == 1
    assert after.per_query("Judged@3")["q"] == 1 / 3


def test_ir_measures_sees_the_places_that_are_kept(tmp_path: Path) -> None:
    pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    for duplicates in RULES:
        evaluation = evaluate(in_lists(tmp_path, duplicates), GOLDEN)
        theirs = evaluation.table(["ir_measures:RR", "ir_measures:P@5"])
        assert theirs.to_numpy().tolist() == evaluation.table(["RR", "P@5"]).to_numpy().tolist()


def test_repeats_of_a_document_change_no_similarity(tmp_path: Path) -> None:
    """Similarities compare documents; that a place changed still counts as a change."""
    now, before = {"q": ["a", "a", "b"], "p": ["a"]}, {"q": ["a", "b", "b"], "p": ["a"]}
    comparison = compare(
        *(evaluate(Run.from_dict(run, duplicates="keep_places"), GOLDEN) for run in (now, before))
    )
    agreement = stability_of(comparison, StabilityLimits()).agreements[0]
    assert agreement.query_id == "q"
    assert agreement.is_changed
    assert (agreement.rbo, agreement.overlap, agreement.kendall, agreement.tau_ap) == (1, 1, 0, 1)


def test_an_expectation_is_about_the_first_place() -> None:
    run = Run.from_dict({"q": ["a", "b", "a", "a"]}, duplicates="keep_places")
    expected = [Expectation.in_top(1, "a", query="q"), Expectation.in_top(2, "b", query="q")]
    results = check_expectations(run, GOLDEN, expected)
    assert [result.ranks for result in results] == [{"a": 1}, {"b": 2}]
    assert all(result.holds for result in results)


def test_label_noise_flips_a_repeated_document_once(tmp_path: Path) -> None:
    """With no label flipped, the values are those of the evaluation."""
    after = evaluate(in_lists(tmp_path, "keep_places"), GOLDEN)
    before = evaluate(Run.from_dict({"q": ["b"], "p": ["a"], "o": ["b"]}), GOLDEN)
    noise = compare(after, before).label_sensitivity("AP", 0.001, draws=2)
    assert noise.differences == pytest.approx([compare(after, before).values("AP").difference] * 2)


def test_runs_by_different_rules_are_not_comparable(tmp_path: Path) -> None:
    records = [
        Record.of(evaluate(in_lists(tmp_path, duplicates), GOLDEN), [Metric.parse("R@5")])
        for duplicates in RULES
    ]
    assert records[0].conventions != records[1].conventions
    recorded = [json.loads(record_text(record))["conventions"] for record in records]
    assert [conventions["duplicates"] for conventions in recorded] == RULES
