"""Duplicate documents in rankings: an error, gaps closed, or places kept, however a run is made."""

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, Run, evaluate, rank
from pytest_rankcheck.files import packed_files
from pytest_rankcheck.rankers.ranking import Duplicates
from tests.libraries import forms

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


@pytest.fixture(params=forms(*PATHS))
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> object:
    if request.param == "columns":
        monkeypatch.setattr(packed_files, "LARGE_FILE", 0)
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
        "duplicates=keep_places in rankcheck_conventions",
    ):
        assert part in str(failure.value)


def test_kept_places_survive_files_and_cuts(tmp_path: Path) -> None:
    run = in_lists(tmp_path, "keep_places")
    assert run["q"] == ("a", "a", "a", "a", "a", "b")
    assert run.top(5)["q"] == ("a",) * 5
    run.save(tmp_path / "again.csv")
    again = Run.load(tmp_path / "again.csv", duplicates="keep_places")
    assert {query: again[query] for query in again} == {query: run[query] for query in run}
    assert Run.load(_file(tmp_path, "run"), duplicates="keep_places").top(5)["p"] == run["p"][:5]
