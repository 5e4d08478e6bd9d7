"""The benchmarks run from end to end, on a small part of their data. No time is asserted."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.reference import data

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "compare.py"


@pytest.mark.oracle
def test_the_benchmark_of_speed_makes_its_tables(tmp_path: Path) -> None:
    for library in ("polars", "pyarrow", "pytrec_eval", "sklearn"):
        pytest.importorskip(library)

    def run(*arguments: str) -> str:
        where = ["--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "speed.json")]
        chosen = ["--runs", "1", "--scale", "0.001", "--peers", "pytrec_eval,scikit-learn"]
        command = [sys.executable, str(SCRIPT), *where, *chosen, *arguments]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("--shapes", "c", "--rows", "none")
    run("--shapes", "d", "--forms", "parquet,frames", "--rows", "growth")
    run("--shapes", "none", "--rows", "golden set,hundred metrics,whole process,imports")
    text = run("--shapes", "none", "--rows", "none")  # all of it, from what was kept
    for form in ("TREC text, without polars", "dicts, golden set prebuilt", "lists of ids"):
        assert re.search(rf"^\| {form} \| [\d.*]+ / [\d.*]+ \| - \|$", text, re.MULTILINE), form
    assert (
        len(re.findall(r"^\| (?:Parquet|pandas DataFrame) \| [\d.*]+ / ", text, re.MULTILINE)) == 2
    )
    assert (
        len(re.findall(r"^\| (?:Parquet|pandas DataFrame) \| [\d.]+ \|$", text, re.MULTILINE)) == 2
    )
    assert "- pytrec_eval agrees on nDCG@10, AP@1000, R@100, P@10" in text
    for row in (
        "10,000 judgments",
        "100 metrics on c",
        "the whole process",
        "imports of rankcheck",
    ):
        assert row in text


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data("")
    pytest.importorskip("lightgbm")
    return tmp_path_factory.mktemp("calibration") / "pairs.npz"


def calibrated(pairs: Path, *arguments: str) -> str:
    command = [sys.executable, str(SCRIPT.with_name("calibration.py")), "--pairs", str(pairs)]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rates_of(text: str, row: str) -> list[float]:
    """Return the rates of the first row with this title."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} |"))
    return [float(cell.split("%")[0]) for cell in line.split("|")[2:-1]]


@pytest.mark.oracle
def test_the_calibration_makes_its_tables(pairs: Path) -> None:
    text = calibrated(pairs, "--sections", "pairs", "--draws", "48")
    assert "48 draws per cell" in text
    for table in ("Innocent changes that `significant` blocks", "Falls of the margin"):
        assert f"**{table}" in text
    for family in ("nDCG@10", "RR", "AP", "Success@1", "count", "duration"):
        for direction in ("few large falls", "few large gains"):
            # Five tables have a row for each family and direction.
            assert text.count(f"\n| {family}, {direction} |") == 5
    # What differs by more than any error of so few draws (of 384 per cell; the standard error is
    # at most 2.6%): a fixed tolerance blocks many more innocent changes, and rag-ci lets many more
    # falls of twice the margin pass.
    significant, fixed = rates_of(text, "significant"), rates_of(text, "tolerance, 2%")
    assert len(significant) == 5
    assert all(low < high - 10 for low, high in zip(significant[:3], fixed[:3], strict=True))
    falls = text[text.index("falls of 0.04 that pass") :]
    kept, lost = rates_of(falls, "noninferior"), rates_of(falls, "rag-ci")
    assert all(low < high - 10 for low, high in zip(kept[:3], lost[:3], strict=True))
    sentences = [line for line in text.splitlines() if line.startswith("- `")]
    assert len(sentences) == 7
    assert all(" holds in all " in line or " exceeded in " in line for line in sentences)


@pytest.mark.oracle
def test_the_calibration_plays_years_and_designs(pairs: Path) -> None:
    sections = ("designs", "ratchet", "slide")
    text = calibrated(pairs, "--sections", *sections, "--draws", "32", "--histories", "40")
    assert text.count("| two samples: ") == 2
    assert text.count(" weights, ") == 6
    # The ratchet: a baseline that rises on any gain blocks more at the end than at the beginning.
    first, *_, last = rates_of(text, "rises on any gain")
    assert last > first + 10
    # The slide: without the guard, most of 50 falls of 0.003 are merged.
    losses = [line for line in text.splitlines() if line.startswith("| significant | 0.")]
    assert 0.1 < float(losses[0].split("|")[2]) <= 0.15
    assert text.count("and the guard (") == 3


@pytest.mark.oracle
def test_the_benchmark_of_the_choice_makes_its_tables(pairs: Path) -> None:
    script = SCRIPT.with_name("gate_choice.py")
    command = [sys.executable, str(script), "--pairs", str(pairs), "--draws", "64"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = re.findall(r"^\| ([\d,]+) \| (.*) \|$", done.stdout, flags=re.MULTILINE)
    assert [size for size, _ in rows] == ["30", "50", "100", "200", "1,000"] * 2
    for _, cells in rows:
        blocked, shown, *inconclusive = (int(cell.strip(" %")) for cell in cells.split("|"))
        assert blocked <= shown
        assert inconclusive == sorted(inconclusive, reverse=True), "a larger margin is easier"
    assert int(rows[4][1].split("%")[1].strip(" |")) == 100  # 1,000 queries show a fall of 0.04


def test_the_benchmark_of_typos_makes_its_table() -> None:
    data("")
    command = [sys.executable, str(SCRIPT.with_name("typos.py")), "--seeds", "2", "--queries", "30"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = re.findall(r"^\| BM25 over (.+) \| (\d) \| (0\.\d+) ", done.stdout, flags=re.MULTILINE)
    assert [int(samples) for _, samples, _ in rows] == [1, 5] * 3
    similar = [float(rbo) for _, samples, rbo in rows if samples == "5"]
    assert similar[0] < min(similar[1:]), "characters tolerate typos better than words"


@pytest.mark.oracle
def test_the_benchmark_of_the_advice_makes_its_tables() -> None:
    data("")
    pytest.importorskip("lightgbm")
    command = [sys.executable, "-W", "ignore", str(SCRIPT.with_name("advice.py")), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = {
        name.strip("* "): [float(cell) for cell in cells.split("|")]
        for name, cells in re.findall(
            r"^\| ([^|]+) \| ((?:[\d.]+ \| ){8}[\d.]+) \| [\d.]+% \(", done.stdout, re.MULTILINE
        )
    }
    assert len(rows) == 5
    losses, order, mean = rows["the advice"][6:]
    # Of 480 draws in all and 240 of each kind, two standard errors are at most 0.05 and 0.07.
    assert mean >= 0.55 - 0.05
    assert order >= 0.45 - 0.07
    assert losses > rows["the former advice"][6] + 0.1
    assert mean > rows["nDCG@10 alone"][8] + 0.1
    assert done.stdout.count("nDCG@10 + R@50") == 3


def test_the_benchmark_of_verdicts_makes_its_table() -> None:
    script = SCRIPT.with_name("verdicts.py")
    command = [sys.executable, str(script), "--queries", "640", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| 210 verdicts | CPU time | of the evaluation's" in done.stdout
    assert done.stdout.count("| `") == 4


def test_the_benchmark_of_a_small_run_makes_its_table() -> None:
    script = SCRIPT.with_name("small_run.py")
    command = [sys.executable, str(script), "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = re.findall(r"^\| ([^|]+) \| [\d.]+ s \| [\d.]+ s \|", done.stdout, flags=re.MULTILINE)
    assert rows == ["floor: numpy", "floor: numpy and pandas", "warm, now", "cold, now"]


def test_the_benchmark_of_the_slide_makes_its_tables() -> None:
    script = SCRIPT.with_name("slide.py")
    command = [sys.executable, str(script), "--histories", "60", "--processes", "kept"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = re.findall(r"^\| (.+?) \| ([\d.]*) \| (.*) \|$", done.stdout, flags=re.MULTILINE)
    assert len(rows) == 8
    cells = {name: (loss, cells.split(" | ")) for name, loss, cells in rows}
    assert cells["every change is merged"][0] == "0.150"
    assert all("(0.0%)" in cell for cell in cells["`tolerance(abs=0.01)`"][1][:4])
    losses = [float(cell.split()[0]) for cell in cells["`significant()`"][1]]
    assert losses == sorted(losses, reverse=True), "a higher alpha lets less pass"
    assert losses[-1] < 0.06 < float(cells["`significant()`"][0])


@pytest.mark.parametrize("process", ["kept", "renewed"])
def test_histories_played_side_by_side_are_those_of_pull_requests(
    process: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    slide, pull_requests = map(importlib.import_module, ("slide", "pull_requests"))
    for gate in slide.GATES.values():
        together = slide.played(gate, slide.PROCESSES[process], 3, seed=7)
        rules = {"raise_rule": pull_requests.never} if gate is slide.MERGES_ALL else {}
        for place, history in enumerate(slide.PROCESSES[process].histories(3, 7)):
            steps: list[int] = []
            alone = pull_requests.play(
                history, gate, guard=lambda _, k, steps=steps: bool(steps.append(k)), **rules
            )
            assert np.array_equal(together.merged[place], alone.merged)
            assert together.steps[place][alone.merged].tolist() == steps


def test_the_benchmark_of_corruptions_makes_its_table() -> None:
    data("")
    few = ["--draws", "2", "--sets", "shop", "languages", "--trials", "2"]
    command = [sys.executable, str(SCRIPT.with_name("lint_table.py")), *few]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    row = r"^\| ([^|]+) \| `.*` \| ([\d.]+)% \| [\d.]+% \| ([\d.]+)% \| \d+ / \d+ \|$"
    rows = re.findall(row, done.stdout, re.MULTILINE)
    assert len(rows) == 16
    assert {(found, alarms) for _, found, alarms in rows} == {("100.0", "0.0")}
    assert "The 4 clean sets show the false alarms" in done.stdout


def test_the_benchmark_of_records_makes_its_table() -> None:
    command = [sys.executable, str(SCRIPT.with_name("records.py")), "--rounds", "1"]
    done = subprocess.run([*command, "--sizes", "60"], capture_output=True, text=True, check=True)
    rows = re.findall(
        r"^\| 60 \| (.+?) \| .* \| (.+) CPU, (.+) wall \|$", done.stdout, re.MULTILINE
    )
    assert [form for form, *_ in rows] == ["one file", "two files"]
    assert rows[0][1:] == ("1.0", "1.0"), "the first form is the measure"


def test_the_benchmark_of_scale_makes_its_table() -> None:
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    if not Path("/proc/self/status").exists():
        pytest.skip("the benchmark reads the memory of processes where Linux shows it")
    engines = {
        "one file": "one file, `evaluate`",
        "folder": "a folder of parts, `evaluate`",
        "loop": "a loop over parts",
        "processes": "two processes over parts",
        "polars": "shuffled rows, sorted by polars",
    }
    small = ["--rows", "20000", "--parts", "4", "--engines", ",".join(engines)]
    command = [sys.executable, str(SCRIPT.with_name("scale.py")), *small]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "20,000 rows, 20 queries, 4 parts; " in done.stdout
    row = r"^\| (.+) \| [\d.]+ \| [\d.]+ \| [\d.]+ \| ([\d.]+|-) \| \d+ \| (0\.0|-) \|$"
    rows = re.findall(row, done.stdout, re.MULTILINE)
    assert [name for name, *_ in rows] == list(engines.values())
    hashes = re.findall(r"'hash': '(\w{12})'", done.stderr)
    assert len(hashes) == 5
    assert len(set(hashes)) == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, None),
        ({"hash": "b"}, "other values: {'loop': 'a', 'spark': 'b'}"),
        ({"worker": 401.0}, "spark: 401 MB per worker"),
        ({"parts": 10.1}, "spark: 10.1 MB of parts"),
    ],
)
def test_the_benchmark_of_scale_fails_of_other_values_and_too_much_memory(
    changed: dict[str, object], message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    result: dict[str, object] = {"hash": "a", "worker": 400.0, "parts": 10.0}
    found = importlib.import_module("scale").failures({"loop": result, "spark": result | changed})
    assert found == ([] if message is None else [message])


def test_the_benchmark_of_executors_makes_its_table() -> None:
    command = [sys.executable, str(SCRIPT.with_name("executors.py")), "120"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("120 queries\n")
    rows = re.findall(r"^(\w.*?)  +\d+\.\d\d(?:  +-?[\d.]+)?$", done.stdout, re.MULTILINE)
    assert rows == [
        "serial",
        "threads, chunk=50",
        *(f"processes:2 with start, chunk={chunk}" for chunk in (10, 50, 500)),
        "serial, kept in chunks of 50",
    ]
