"""Requirements on the ranker's behaviour, independent of averages.

Expectations are in the golden sets: beside the judgments in ``symbols.jsonl``, and for unjudged
queries in ``unjudged.jsonl``. A sample of the queries is ranked repeatedly.
"""

from pathlib import Path

import pytest
from symbol_search.corpus import symbols
from symbol_search.ranker import Index

from pytest_rankcheck import (
    GoldenSet,
    assert_consistent_depth,
    assert_deterministic,
    assert_expectations,
    assert_invariant,
    rank,
)

UNJUDGED = Path(__file__).parent.parent / "golden" / "unjudged.jsonl"


@pytest.fixture(scope="module")
def sample(golden_set):
    return golden_set.sample(40)


def test_expectations(ranking_run, golden_set):
    assert_expectations(ranking_run, golden_set)


def test_unjudged_queries(ranker):
    queries = GoldenSet.load(UNJUDGED)
    assert_expectations(rank(ranker, queries), queries)


def test_the_ranker_is_deterministic(ranker, sample):
    assert_deterministic(ranker, sample, repeats=2)


def test_the_top_is_the_same_at_every_depth(ranker, sample):
    assert_consistent_depth(ranker, sample, (5, 10, 50))


def build(documents):
    return Index(documents.values()).search


def test_the_order_of_the_index_does_not_matter(sample):
    documents = {symbol.name: symbol for symbol in symbols()}
    before = rank(build(documents), sample)
    after = rank(build(dict(reversed(documents.items()))), sample)
    assert all(before[query] == after[query] for query in before)


@pytest.mark.parametrize("perturbation", ["white_space", "word_order"])
def test_rewordings_do_not_change_the_answers(ranker, sample, perturbation):
    assert_invariant(ranker, sample, perturbation)


def test_capitals_change_little(ranker, golden_set):
    assert_invariant(ranker, golden_set, "case", max_mean_drop=0.01)


def test_typing_errors_are_tolerated(ranker, sample):
    assert_invariant(ranker, sample, "typo", min_mean_rbo=0.6, max_mean_drop=0.25)
