"""Every way to make a run of the same rankings."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, Run, rank
from pytest_rankcheck.files import packed_files

Rankings = Mapping[str, Sequence[str]]
"""The documents of each query, best first; some may be there twice."""


def _of_pairs(rankings: Rankings, folder: Path, **rules: Any) -> Run:
    pairs = {q: [(doc, -float(i)) for i, doc in enumerate(docs)] for q, docs in rankings.items()}
    return Run.from_dict(pairs, **rules)


def _of_a_ranker(rankings: Rankings, folder: Path, **rules: Any) -> Run:
    golden = GoldenSet.from_dict({q: {} for q in rankings}, queries={q: q for q in rankings})
    return rank(rankings.__getitem__, golden, **rules)


def _of_a_frame(rankings: Rankings, folder: Path, **rules: Any) -> Run:
    rows = [(q, doc, i) for q, docs in rankings.items() for i, doc in enumerate(docs, start=1)]
    return Run.from_frame(pd.DataFrame(rows, columns=["query_id", "doc_id", "rank"]), **rules)


def saved(rankings: Rankings, folder: Path, ending: str) -> Path:
    """Write a file of the rankings."""
    file = folder / f"form.{ending}"
    Run.from_dict(rankings, duplicates="keep_places").save(file)
    return file


def _of_interleaved_lines(rankings: Rankings, folder: Path, **rules: Any) -> Run:
    file = saved(rankings, folder, "run")
    lines = file.read_text().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    file.write_text("".join(lines))
    return Run.scan(file, **rules)


def _read(read: Callable[..., Run], ending: str) -> Callable[..., Run]:
    return lambda rankings, folder, **rules: read(saved(rankings, folder, ending), **rules)


ENDINGS = ("run", "csv", "jsonl", "parquet")
RUN_FORMS: dict[str, Callable[..., Run]] = {
    "lists": lambda rankings, folder, **rules: Run.from_dict(rankings, **rules),
    "pairs": _of_pairs,
    "ranker": _of_a_ranker,
    "frame": _of_a_frame,
    **{f"{ending} loaded": _read(Run.load, ending) for ending in ENDINGS},
    **{f"{ending} scanned": _read(Run.scan, ending) for ending in ENDINGS},
    "interleaved lines": _of_interleaved_lines,
    "columns": _read(Run.scan, "run"),
}
"""By name, a function from rankings, a folder to write to, and rules for reading."""


def run_form(name: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Return a form; what is named after columns is read as a large file is."""
    if name == "columns":
        monkeypatch.setattr(packed_files, "LARGE_FILE", 0)
    return RUN_FORMS[name]
