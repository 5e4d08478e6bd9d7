"""The benchmark of speed: its data, who is measured again, and what its tables say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

from speed.cells import ratios
from speed.floors import FLOORS, floor
from speed.inputs import FORMS, Inputs
from speed.page import as_markdown
from speed.pairs import Series, agreed, close_to_the_fastest
from speed.results import Results
from speed.shapes import SHAPES, described, folder_of, generate

from pytest_rankcheck import GoldenSet, Run, evaluate

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"

ISSUE = {
    "a": (6_980, 1_000, 1),
    "s": (2_000, 1_000, 20),
    "b": (250, 1_000, 1_250),
    "c": (10_000, 120, 120),
    "d": (100_000, 100, 10),
    "e": (22_000, 50, 20),
}
IDS = {
    "a": r"\d+",
    "s": r"\d+",
    "b": r"(FBIS[34]-\d+|FT9\d\d-\d+|LA\d{6}-\d{4,}|FR9404\d\d-0-\d{5,})",
    "c": r"GX\d{3}-\d{2}-\d{7}",
    "d": r"\d+",
    "e": r"B0[0-9A-Z]{8}",
}


def test_the_shapes_have_the_sizes_that_the_page_compares() -> None:
    sizes = {name: (s.queries, s.documents, s.judged) for name, s in SHAPES.items()}
    assert sizes == ISSUE


@pytest.mark.parametrize("letter", SHAPES)
def test_a_shape_is_as_described(letter: str) -> None:
    shape, queries = SHAPES[letter], 40
    rows, again = generate(shape, queries), generate(shape, queries)
    assert all(np.array_equal(getattr(rows, name), getattr(again, name)) for name in vars(rows))
    scores = rows.score.reshape(queries, shape.documents).astype(np.float32)
    assert (np.diff(scores, axis=1) < 0).all(), "no ties, also in the float32 of a peer"
    ranked = rows.run_doc.reshape(queries, -1)
    judged = rows.golden_doc.reshape(queries, -1)
    grades = rows.grade.reshape(queries, -1)
    assert (grades.max(axis=1) > 0).all()
    assert grades.max() == len(shape.grades) - 1
    for docs in (*ranked, *judged):
        assert np.unique(docs).size == docs.size
    # The share of the judged documents that are ranked, by their grade.
    there = np.array([np.isin(*pair) for pair in zip(judged, ranked, strict=True)])
    for chosen, share in zip((grades > 0, grades == 0), shape.retrieved, strict=True):
        if chosen.any():
            error = 4 * np.sqrt(share * (1 - share) / chosen.sum())
            assert abs(there[chosen].mean() - share) <= error + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("letter", SHAPES)
def test_all_forms_of_a_shape_hold_the_same_data(letter: str, tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)
    folder = folder_of(tmp_path, SHAPES[letter], 20)
    inputs = Inputs(folder)
    metrics = ["nDCG@10", "RR@10", "AP", "R", "P@10"]
    assert (
        pl.read_parquet(inputs.qrels_parquet)["doc_id"]
        .cast(pl.String)
        .str.contains(f"^{IDS[letter]}$")
        .all()
    )
    assert 0 < described(folder)["ranked"] <= 1

    def values(run: Run, golden: GoldenSet) -> list[float]:
        return [evaluate(run, golden).mean(metric) for metric in metrics]

    expected = values(Run.load(inputs.run_text), GoldenSet.load(inputs.qrels_text, "trec"))
    golden = GoldenSet.from_dict(inputs.qrels_dicts())
    assert values(Run.load(inputs.run_parquet), GoldenSet.load(inputs.qrels_parquet)) == expected
    assert values(Run.from_dict(inputs.run_dicts()), golden) == expected
    assert values(Run.from_dict(inputs.run_lists()), golden) == expected
    frames = GoldenSet.from_frame(inputs.qrels_frame())
    assert values(Run.from_frame(inputs.run_frame()), frames) == expected
    if letter == "c":
        scores, labels, groups = inputs.arrays()
        rows = zip(
            *(np.split(part, np.cumsum(groups)[:-1]) for part in (scores, labels)), strict=True
        )
        gains = []
        for score, label in rows:
            discounts = np.log2(np.arange(2, 12))
            sorted_by = [label[np.argsort(-key, kind="stable")][:10] for key in (score, label)]
            gained, ideal = (float((one / discounts).sum()) for one in sorted_by)
            gains.append(gained / ideal)
        assert np.mean(gains) == pytest.approx(expected[0], abs=1e-12)


@pytest.mark.slow
def test_a_floor_reaches_every_hit(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)
    assert list(FLOORS) == list(FORMS)
    shape = SHAPES["c"]
    inputs = Inputs(folder_of(tmp_path, shape, 20))
    for form in FORMS:
        # Every document is ranked and judged.
        assert list(floor(form, inputs)().values()) == [20 * shape.judged], form


def series(cpu: float, wall: float, **means: float) -> Series:
    return Series([{"cpu": cpu, "wall": wall, "peak_mb": 1, "before_mb": 1, "means": means}])


def test_peers_that_are_fast_by_either_clock_run_again() -> None:
    first = {
        "quick": series(1.0, 1.0),
        "threads": series(2.0, 0.8),
        "near": series(1.2, 1.2),
        "slow": series(1.3, 1.3),
    }
    assert close_to_the_fastest(first, list(first)) == ["quick", "threads", "near"]
    assert close_to_the_fastest(first, ["slow", "missing"]) == ["slow"]


def test_no_time_counts_when_the_contestants_disagree() -> None:
    same = {"ours": series(1, 1, AP=0.5, RR=0.2), "theirs": series(1, 1, AP=0.5 + 9e-7, X=3.0)}
    assert agreed(same) == {"AP": ["ours", "theirs"], "RR": ["ours"], "X": ["theirs"]}
    with pytest.raises(SystemExit, match="disagree on AP"):
        agreed({"ours": series(1, 1, AP=0.5), "theirs": series(1, 1, AP=0.5 + 2e-6)})


def figures(cpu: float, wall: float, peak: float = 100.0) -> dict[str, float]:
    return {"cpu": cpu, "wall": wall, "peak_mb": peak, "before_mb": 50.0}


def results() -> dict[str, Any]:
    cell = {
        "ours": figures(0.5, 0.25),
        "peers": {"pytrec_eval": figures(1.0, 1.0, 300.0), "ranx": figures(2.0, 0.2, 900.0)},
        "floor": figures(0.1, 0.1),
        "metrics": {"nDCG@10": ["rankcheck", "pytrec_eval", "ranx"], "RR": ["pytrec_eval"]},
        "runs": 5,
        "date": "2026-11-22",
        "load": 1.9,
    }
    return {
        "machine": {"cpu": "a processor", "cores": 2, "python": "3.11.7", "scale": 1.0},
        "shapes": {"b": {"ranked": 0.42, "ids": ["1168", "FT911-3"]}},
        "cells": {"b/dicts": cell, "b/arrays": None},
        "growth": {"b/dicts": {"1": figures(1.0, 1.0), "2": figures(2.05, 4.0)}},
        "rows": {"versions": {"numpy": "2.4", "polars": None}},
    }


def test_each_clock_has_its_own_fastest_peer() -> None:
    # By CPU pytrec_eval 1.0 / 0.5 = 2; by the wall clock ranx 0.2 / 0.25 = 0.8.
    assert ratios(results()["cells"]["b/dicts"]) == {"cpu": 2.0, "wall": 0.8}


def test_the_page_shows_ratios_floors_memory_and_growth() -> None:
    text = as_markdown(results())
    assert "| dicts, everything built | 2.0 / **0.80** |" in text
    assert "| dicts, everything built | 10.0 |" in text  # 1.0 / 0.1
    assert "- dicts, everything built: the scores to arrays" in text
    row = "| b | dicts, everything built | 500 ms / 250 ms | pytrec_eval 1.00 s / ranx 200 ms |"
    assert f"{row} 100 MB | 300 MB |" in text
    assert "| dicts, everything built | 2.05 |" in text
    assert "| b | Robust04 | 250 x 1,000 | 1,250 | 42% | 0 to 2 | `1168`, `FT911-3` |" in text
    assert "- ranx agrees on nDCG@10." in text
    assert "Measured 2026-11-22 on 2 cores of a processor, Python 3.11.7, numpy 2.4." in text
    assert "Other work" not in text
    assert "arrays and groups" not in text  # this version could not take that form


def test_the_page_says_that_wall_times_were_disturbed() -> None:
    disturbed = results()
    disturbed["cells"]["b/dicts"]["load"] = 8.0  # on 2 cores
    assert "Other work used the cores meanwhile (load average up to 8)" in as_markdown(disturbed)


def test_results_of_two_machines_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    one, other = ({"cpu": name, "cores": 2} for name in ("one", "other"))
    Results(path, one).keep("cells", "b/dicts", {"ours": 1})
    Results(path, one).keep("cells", "b/lists", None)
    assert Results(path, one).content["cells"] == {"b/dicts": {"ours": 1}, "b/lists": None}
    with pytest.raises(SystemExit, match="two machines"):
        Results(path, other)


MEASURED_WORK = """
import contextlib, importlib, io, json, sys, time
from speed.worker import measured

size = 64 * 2**20
before_the_work = bytearray(3 * size)
del before_the_work
kept = []

def work():
    with contextlib.redirect_stdout(io.StringIO()):
        importlib.import_module("this")
    kept.append(bytes(bytearray(size)))
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    time.sleep(0.2)
    return {"AP": 0.5}

print(json.dumps(measured(work)))
"""


def test_only_the_work_is_measured() -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("the memory of a process is read from /proc")
    # In a process of its own: this one may give memory back while it measures.
    command = [sys.executable, "-c", MEASURED_WORK]
    answer = subprocess.run(command, cwd=BENCHMARKS, check=True, capture_output=True, text=True)
    result = json.loads(answer.stdout)
    assert result["means"] == {"AP": 0.5}
    assert result["cpu"] < result["wall"] - 0.1, "sleeping is not CPU time"
    assert result["cpu"] >= 0.05
    # Twice 64 MB for a moment, and none of the 192 MB that were given back before.
    assert 100 < result["peak_mb"] - result["before_mb"] < 180
    assert result["imported"] == ["this"]
