"""Corruptions planted into clean golden sets: the linter finds each by its name, and nothing else.

The full table, with sets of real collections, is made by ``benchmarks/lint_table.py``.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet
from tests import reference

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SETS = ("shop", "languages", "symbols")
"""The simulated sets; the others need the reference data."""
SEEDS = range(3)
CONSEQUENCES = {"small-slice", "look-alike-id", "odd-id", "number-id"}
"""Rules that may see a corruption as well: fewer queries, and ids that the corpus shows too."""


@pytest.fixture(scope="module")
def planted() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("lint_corruptions")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize("name", SETS)
def test_clean_sets_have_no_findings(planted: ModuleType, name: str) -> None:
    counts = planted.clean_counts([name], len(SEEDS))
    assert set(counts[name]) <= set(planted.TRUE_OF_SAMPLES)


@pytest.mark.parametrize("name", ["Cranfield", "TREC sessions", "LambdaRank"])
def test_samples_of_real_collections_have_no_findings(planted: ModuleType, name: str) -> None:
    reference.data("")
    counts = planted.clean_counts([name], len(SEEDS))
    assert set(counts[name]) <= set(planted.TRUE_OF_SAMPLES)


LEFT_OUT = {"only-relevant", "no-relevant", "ceiling", "one-grade"}
"""True of clicks, which have no other grade, and of queries of LightGBM's example."""


@pytest.mark.parametrize(
    ("file", "true"),
    [
        ("cranfield/cran.qrels", {"negative-grade", "reversed-grades"}),  # 1 is the best
        ("trec_eval/qrels.test", {"few-queries"}),  # three queries
        ("trec_eval/qrels.rel_level", {"few-queries", "negative-grade"}),
        ("trec_eval/qrels-302.test", {"few-queries"}),
        ("trec-session-2013/graded.qrels.gz", {"negative-grade"}),  # -2 is spam
        ("trec-session-2013/clicks.qrels", LEFT_OUT),
        ("lightgbm-lambdarank/rank.train", LEFT_OUT),
        ("lightgbm-lambdarank/rank.test", LEFT_OUT),
        ("lightgbm-lambdarank/rank.test.qrels", LEFT_OUT),
    ],
)
def test_whole_collections_have_no_findings_that_are_not_true(file: str, true: set[str]) -> None:
    golden = GoldenSet.load(reference.data(file))
    doc_ids = [doc_id for query_id in golden.query_ids for doc_id in golden.grades(query_id)]
    assert {finding.rule for finding in golden.lint(corpus=doc_ids)} <= true


def test_cranfield_has_no_findings_at_all(planted: ModuleType) -> None:
    reference.data("")
    whole = importlib.import_module("lint_samples")._cranfield(planted.DATA / "cranfield")
    assert len(whole.judgments) == 225
    assert len(whole.corpus) == 1400
    assert whole.findings() == []


@pytest.mark.parametrize("name", SETS)
def test_each_corruption_is_found_and_named(planted: ModuleType, name: str) -> None:
    tried = set()
    for seed in SEEDS:
        clean = planted.POPULATIONS[name](np.random.default_rng(seed), planted.DATA)
        usual = {finding.rule for finding in clean.findings()}
        for corruption in planted.CORRUPTIONS:
            corrupted = corruption.plant(np.random.default_rng(seed), clean)
            if corrupted is None:
                continue
            tried.add(corruption.name)
            rules = {finding.rule for finding in corrupted.findings()}
            assert rules & set(corruption.rules), (corruption.name, seed)
            assert rules <= {*corruption.rules, *usual, *CONSEQUENCES}, (corruption.name, seed)
    assert len(tried) >= len(planted.CORRUPTIONS) - 3, "most sets can be corrupted in most ways"


def test_every_corruption_of_samples_is_tried(planted: ModuleType) -> None:
    rates = planted.found_rates(SETS, 1)
    assert all(both.draws for both, _ in rates.values())
    assert {name for name, (both, _) in rates.items() if both.share < 1} == set()
    alone = {name for name, (_, rate) in rates.items() if rate.share == 0}
    assert {"zeros lost from ids", "documents absent from the corpus"} <= alone
    assert not alone & {"mojibake", "duplicate query", "near-duplicate query", "empty text"}


# --- comparisons ---------------------------------------------------------------------------------

COMPARED = (
    *("inverted scale", "stale documents", "shift between slices", "shift between judges"),
    "leakage",
)
"""The corruptions that show only in a comparison."""


@pytest.fixture(scope="module")
def compared(planted: ModuleType) -> ModuleType:
    return importlib.import_module("lint_comparisons")


def test_there_are_sixteen_corruptions(planted: ModuleType, compared: ModuleType) -> None:
    of_samples = [corruption.name for corruption in planted.CORRUPTIONS]
    assert tuple(comparison.name for comparison in compared.COMPARISONS) == COMPARED
    assert len({*of_samples, *COMPARED}) == len(of_samples) + len(COMPARED) == 16


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", COMPARED)
def test_a_fault_is_found_by_comparison(compared: ModuleType, name: str, seed: int) -> None:
    reference.data("cranfield")
    comparison = next(each for each in compared.COMPARISONS if each.name == name)
    assert comparison.planted(random.Random(seed)).is_found(comparison.rule)
    assert not comparison.clean(random.Random(seed)).is_found(comparison.rule)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_threshold_of_stale_documents_is_far_from_both(compared: ModuleType, seed: int) -> None:
    """It is 20%; the share on the clean set and with 30% of the documents replaced."""
    reference.data("cranfield")
    (stale,) = (each for each in compared.COMPARISONS if each.name == "stale documents")
    assert compared.unfound_share(stale.clean(random.Random(seed))) < 0.05
    assert compared.unfound_share(stale.planted(random.Random(seed))) > 0.3


def test_expectations_that_agree_with_the_grades_are_not_reported(compared: ModuleType) -> None:
    reference.data("cranfield")
    assert compared.expectation_alarms(1).hits == 0
