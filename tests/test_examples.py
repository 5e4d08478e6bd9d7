"""The examples, run as a reader runs them: green as they are, blocked with the worse ranker."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
WORSE = ("--rankcheck-ranker", "symbol_search.substring:search")


@pytest.fixture
def symbol_search(tmp_path: Path) -> Path:
    """A copy of the example, which a test may change."""
    return Path(
        shutil.copytree(
            EXAMPLES / "symbol_search",
            tmp_path / "symbol_search",
            ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"),
        )
    )


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run pytest in a folder, and return its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every baseline."""
    return {path.name: path.read_bytes() for path in folder.rglob("baselines/**/*.json")}


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_symbol_search_is_green_and_shows_its_quality(
    symbol_search: Path, arguments: tuple[str, ...]
) -> None:
    code, text = run(symbol_search, *arguments)
    assert code == 0, text
    assert "golden set  metric" in text
    assert "symbols     nDCG@10" in text


def test_a_worse_ranker_is_blocked_and_the_text_says_where(symbol_search: Path) -> None:
    before = contents(symbol_search)
    assert len(before) == 2
    code, text = run(symbol_search, *WORSE)
    assert code == 1, text
    assert "nDCG@10 regressed on golden set 'symbols' (153 queries)" in text
    assert "style=abbreviation  0.6" in text
    assert "(38 queries, regressed, allowed 0.0200)" in text
    assert 'ab-01 "OD"   1.000 -> 0.000' in text
    assert "collections.OrderedDict (grade 3)  1 -> -" in text
    assert contents(symbol_search) == before


def test_a_worse_ranker_is_only_recorded_with_a_reason(symbol_search: Path) -> None:
    before = contents(symbol_search)
    gates = ("-k", "no_regression or no_style")
    code, text = run(symbol_search, *WORSE, *gates, "--snapshot-update")
    assert code == 1, text
    assert text.count("E       AssertionError: update refused: nDCG@10 regressed") == 2
    assert contents(symbol_search) == before
    reason = "we need no abbreviations"
    code, text = run(
        symbol_search, *WORSE, *gates, "--snapshot-update", "--rankcheck-approve", reason
    )
    assert code == 0, text
    after = contents(symbol_search)
    assert all(reason.encode() in text for text in after.values())
    assert run(symbol_search, *WORSE, *gates)[0] == 0


def test_the_failures_read_the_same_from_the_root_of_the_project() -> None:
    root = EXAMPLES.parent
    code, text = run(root, "examples/symbol_search", *WORSE, "-k", "no_regression")
    assert code == 1, text
    assert "baseline: examples/symbol_search/tests/baselines/test_ranking/" in text
    assert "pytest examples/symbol_search/tests/test_ranking.py::test_no_regression" in text
