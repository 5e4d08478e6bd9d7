"""What must hold whatever the averages say.

Expectations stand in the golden sets: beside the judgments in ``symbols.jsonl``, and of queries
that nobody has judged in ``unjudged.jsonl``. What is asked again and again is a sample.
"""

from pathlib import Path

import pytest

from pytest_rankcheck import (
    GoldenSet,
    assert_deterministic,
    assert_direction,
    assert_expectations,
    assert_invariant,
    rank,
)

UNJUDGED = Path(__file__).parent.parent / "golden" / "unjudged.jsonl"


@pytest.fixture(scope="module")
def sample(golden_set):
    return golden_set.sample(40)


def test_what_people_must_find(ranking_run, golden_set):
    assert_expectations(ranking_run, golden_set)


def test_queries_that_nobody_has_judged(ranker):
    queries = GoldenSet.load(UNJUDGED)
    assert_expectations(rank(ranker, queries), queries)


def test_the_same_query_is_answered_the_same(ranker, sample):
    assert_deterministic(ranker, sample, repeats=2)


@pytest.mark.parametrize("perturbation", ["white_space", "word_order"])
def test_what_means_the_same_is_answered_the_same(ranker, sample, perturbation):
    assert_invariant(ranker, sample, perturbation)


def test_case_tells_camel_humps_apart_and_little_else(ranker, golden_set):
    assert_invariant(ranker, golden_set, "case", max_mean_drop=0.01, allowed_queries=20)


@pytest.mark.parametrize("seed", range(2))
def test_a_slip_of_the_finger_is_forgiven(ranker, sample, seed):
    assert_invariant(ranker, sample, "typo", max_mean_drop=0.3, seed=seed)


def with_a_word_of_no_meaning(text):
    return f"{text} frobnicate"


def test_a_word_of_no_meaning_is_no_help(ranker, sample):
    assert_direction(ranker, sample, with_a_word_of_no_meaning, "not_better", of="mean")
