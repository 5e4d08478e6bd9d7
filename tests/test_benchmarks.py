"""The benchmarks run from end to end, on a small part of their data. No time is asserted."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.libraries import NEEDS_POLARS

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def printed(script: str, *arguments: str) -> str:
    """Run a benchmark, and return what it prints."""
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rates_of(text: str, row: str) -> list[float]:
    """Return the rates of the first row with this title."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} |"))
    return [float(cell.split("%")[0]) for cell in line.split("|")[2:-1]]


def test_the_metrics_of_documents_are_timed_in_every_form() -> None:
    text = printed("document_metrics.py", "--users", "500", "--runs", "1")
    rows = [line.split(" | ")[:2] for line in text.splitlines()[2:]]
    forms, works = ("lists", "frame", "frame, all new"), ("nDCG@10", "five metrics", "all metrics")
    assert rows == [[f"| {form}", work] for form in forms for work in works]


def test_sessions_are_timed_as_multiples_of_the_plain_one() -> None:
    text = printed("reported_sessions.py", "--queries", "20", "--rounds", "1", "--peers")
    rows = [line.split(" | ")[:2] for line in text.splitlines()[2:] if line]
    names = ["plain", "failing", "plain, with three reports", "failing, with three reports"]
    assert [name for name, _ in rows] == [
        f"| {name}" for name in [*names, "failing, with Markdown alone"]
    ]
    assert rows[0][1].endswith(" s")


@pytest.mark.oracle
def test_the_benchmark_of_speed_makes_its_tables(tmp_path: Path) -> None:
    where = ["--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "speed.json")]
    chosen = ["--runs", "1", "--scale", "0.001", "--peers", "pytrec_eval", "scikit-learn"]
    for part in (("--shapes", "c"), ("--shapes", "d", "--forms", "parquet", "frames")):
        printed("compare.py", *where, *chosen, *part)
    text = printed("compare.py", *where, *chosen, "--shapes")
    for form in ("TREC text, without polars", "dicts, golden set prebuilt", "lists of ids"):
        assert re.search(rf"^\| {form} \| [\d.*]+ / [\d.*]+ \| - \|$", text, re.MULTILINE), form
    rows = re.findall(r"^\| (?:Parquet|pandas DataFrame) \| [\d.*]+ / ", text, re.MULTILINE)
    assert len(rows) == 4
    assert "- pytrec_eval agrees on nDCG@10, AP@1000, R@100, P@10" in text


@pytest.mark.oracle
def test_the_calibration_and_the_choice_of_a_gate_make_their_tables(tmp_path: Path) -> None:
    pairs = ("--pairs", str(tmp_path / "pairs.npz"))
    sections = (
        "--sections",
        "pairs",
        "lost",
        "proved",
        "designs",
        "sessions",
        "replays",
        "ratchet",
    )
    text = printed("calibration.py", *pairs, *sections, "--draws", "48", "--histories", "40")
    assert "48 draws per cell" in text
    for family in ("nDCG@10", "RR", "AP", "Success@1", "count", "duration"):
        for direction in ("few large falls", "few large gains"):
            assert text.count(f"\n| {family}, {direction} |") == 2
    # What differs by more than any error of so few draws (of 384 per cell; the standard error is
    # at most 2.6%): a fixed tolerance blocks many more innocent changes.
    significant, fixed = rates_of(text, "significant"), rates_of(text, "tolerance, 2%")
    assert all(low < high - 10 for low, high in zip(significant[:3], fixed[:3], strict=True))
    sentences = [line for line in text.splitlines() if line.startswith("- `")]
    assert len(sentences) == 3
    assert all(" holds in all " in line or " exceeded in " in line for line in sentences)
    # Any two rankers: at most 5% of innocent changes lose answers as 4% of the queries would.
    assert max(rates_of(text, "87 pairs, exchanged at random: the worst")) < 5
    # What prove says holds for real rankers.
    cells = next(line for line in text.splitlines() if line.startswith("| rank correlation |"))
    assert all(float(cell) > 0.4 for cell in re.findall(r"-?[01]\.\d\d", cells))
    assert text.count("| two samples: ") == 2
    assert text.count("Zipf weights, ") == 2
    # The ratchet: a baseline that rises on any gain blocks more at the end than at the beginning.
    first, *_, last = rates_of(text, "rises on any gain")
    assert last > first + 10

    text = printed("calibration.py", *pairs, "--sections", "choice", "--draws", "64")
    rows = re.findall(r"^\| ([\d,]+) \| (.*) \|$", text, flags=re.MULTILINE)
    assert [size for size, _ in rows] == ["30", "50", "100", "200", "1,000"] * 2
    for _, cells in rows:
        blocked, shown, *inconclusive = (int(cell.strip(" %")) for cell in cells.split("|"))
        assert blocked <= shown
        assert inconclusive == sorted(inconclusive, reverse=True), "a larger margin is easier"


@pytest.mark.oracle
def test_planted_causes_are_named() -> None:
    """Each size has some 40 plants, four of five of which are of facts or reach most queries."""
    text = printed("named_causes.py", "--draws", "3")
    for queries, least in (("60", 60), ("150", 75), ("225", 75)):
        facts, *_, of_all, innocent = rates_of(text, queries)
        assert facts > 80
        assert of_all > least
        assert innocent < 5
    changes = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(changes) == 2 * 16


@NEEDS_POLARS
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of processes")
def test_the_benchmark_of_scale_makes_its_table() -> None:
    """It fails if an engine computes other values than the others."""
    engines = ("--engines", "folder", "loop", "processes")
    text = printed("scale.py", "--rows", "20000", "--parts", "4", *engines)
    assert "20,000 rows, 20 queries, 4 parts; " in text
    row = r"^\| (.+) \| [\d.]+ \| [\d.]+ \| [\d.]+ \| (?:[\d.]+|-) \| \d+ \| (?:0\.0|-) \|$"
    assert len(re.findall(row, text, re.MULTILINE)) == 3
