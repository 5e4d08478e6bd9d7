"""The benchmark of speed: its data, who is measured again, and what its tables say."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

from speed.inputs import Inputs
from speed.page import as_markdown, figures_as_markdown, others_as_markdown
from speed.pairs import Series, agreed
from speed.shapes import SHAPES, described, folder_of

from pytest_rankcheck import GoldenSet, Run, evaluate
from tests.libraries import NEEDS_POLARS


@NEEDS_POLARS
@pytest.mark.slow
@pytest.mark.parametrize("letter", SHAPES)
def test_all_forms_of_a_shape_hold_the_same_data(letter: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, SHAPES[letter], 20)
    inputs = Inputs(folder)
    assert 0 < described(folder)["ranked"] <= 1

    def values(run: Run, golden: GoldenSet) -> list[float]:
        metrics = ["nDCG@10", "RR@10", "AP", "R", "P@10"]
        return [evaluate(run, golden).mean(metric) for metric in metrics]

    expected = values(Run.load(inputs.run_text), GoldenSet.load(inputs.qrels_text, "trec"))
    qrels, run = inputs.dicts()
    golden = GoldenSet.from_dict(qrels)
    assert values(Run.load(inputs.run_parquet), GoldenSet.load(inputs.qrels_parquet)) == expected
    assert values(Run.from_dict(run), golden) == expected
    assert values(Run.from_dict(inputs.run_lists()), golden) == expected
    assert values(Run.from_dict(inputs.run_pairs()), golden) == expected
    judgments, rows = inputs.frames()
    assert values(Run.from_frame(rows), GoldenSet.from_frame(judgments)) == expected


def series(**means: float) -> Series:
    return Series([{"cpu": 1, "wall": 1, "peak_mb": 1, "means": means}])


def test_no_time_counts_when_the_contestants_disagree() -> None:
    same = {"ours": series(AP=0.5, RR=0.2), "theirs": series(AP=0.5 + 9e-7, X=3.0)}
    assert agreed(same) == {"AP": ["ours", "theirs"], "RR": ["ours"], "X": ["theirs"]}
    with pytest.raises(SystemExit, match="disagree on AP"):
        agreed({"ours": series(AP=0.5), "theirs": series(AP=0.5 + 2e-6)})


def figures(cpu: float, wall: float, peak: float = 100.0) -> dict[str, float]:
    return {"cpu": cpu, "wall": wall, "peak_mb": peak}


CELL = {
    "ours": figures(0.5, 0.25),
    "peers": {"pytrec_eval": figures(1.0, 1.0, 300.0), "RecTools": figures(2.0, 0.2, 900.0)},
    "metrics": {"nDCG@10": ["rankcheck", "pytrec_eval", "RecTools"], "RR": ["pytrec_eval"]},
    "runs": 5,
    "date": "2026-11-22",
    "load": 1.9,
}


def test_the_page_shows_ratios_seconds_and_memory() -> None:
    """By CPU pytrec_eval is fastest, 1.0 / 0.5 = 2; by the wall clock RecTools, 0.2 / 0.25 = 0.8."""
    results = {
        "machine": {"cpu": "a processor", "cores": 2, "python": "3.11.7", "scale": 1.0},
        "shapes": {"b": {"ranked": 0.42, "ids": ["1168", "FT911-3"]}},
        "cells": {"b/dicts": CELL},
        "versions": {"numpy": "2.4", "polars": None},
    }
    text = as_markdown(results)
    assert "| dicts, everything built | 2.0 / **0.80** |" in text
    assert "| dicts, everything built | 0.5 / 1; 100 / 300 |" in figures_as_markdown(results)
    assert "| b | Robust04 | 250 x 1,000 | 1,250 | 42% | 0 to 2 | `1168`, `FT911-3` |" in text
    assert "- RecTools agrees on nDCG@10 (" in text
    assert "Measured 2026-11-22 on 2 cores of a processor, Python 3.11.7, numpy 2.4." in text
    assert "Other work" not in text
    others = {**results, "cells": {"b/pairs+tied": CELL, "b/pairs": CELL}}
    assert others_as_markdown(others).splitlines()[2:] == [
        "| lists of pairs | 2.0 |",
        "| pairs, scores of a few values | 2.0 |",
    ]
