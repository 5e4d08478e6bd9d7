"""Laws that hold for every metric of the registry, whatever its formula.

By exhaustion: all rankings of five documents, for every choice of grades. By hypothesis: longer
rankings, and whole golden sets with unjudged documents and negative grades.
"""

import math
from functools import cache

import numpy as np
import pytest
from family_tables import names, plain_names
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Metric, Run, check_metric, evaluate
from pytest_rankcheck.metrics.metric_registry import judged_definitions
from pytest_rankcheck.metrics.metric_trials import Trials
from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

every_metric = st.sampled_from(names())
checked = cache(check_metric)


# --- all rankings of five documents ---------------------------------------------------------------


def test_every_metric_can_be_used_as_one() -> None:
    for name in names():
        checked(name).raise_if_broken()
    check_metric("ERR(stop=identity)", scale=(0, 0.25, 0.5, 1)).raise_if_broken()


def test_documents_below_the_cutoff_never_count() -> None:
    for name in plain_names():
        if Metric.parse(name).definition.at == "cutoff":
            assert checked(name)["cutoff_local"].holds is True, name


# --- known from theory; derived in docs/reference/laws.md ------------------------------------------


def test_precision_does_not_see_a_swap_inside_the_top_k() -> None:
    changes = Trials(Metric.parse("P@3"), (0, 1)).changes.max(axis=1)
    assert changes.tolist() == [0, 0, pytest.approx(1 / 3), 0]
    assert check_metric("P@3")["sensitive"].holds is False
    assert check_metric("P@2")["sensitive"].holds is None


def test_ndcg_has_one_optimum() -> None:
    assert check_metric("nDCG")["identity"].holds is True
    assert check_metric("AP")["identity"].holds == "binary"


def test_reciprocal_rank_is_blind_to_most_swaps() -> None:
    # Worked by hand. Of the 4 * 2 * 2^3 = 64 swaps of a relevant document with
    # another in the 32 binary rankings of 5, it sees those with nothing relevant above:
    # 2 * (2^3 + 2^2 + 2 + 1) = 30.
    report = check_metric("RR")
    assert report.seen_binary == pytest.approx(30 / 64)
    # In graded judgments it sees a swap only of a relevant and an irrelevant document. Of 5^5
    # rankings with 5 grades, 4 * 20 * 5^3 = 10,000 swaps of different grades; seen at rank i are
    # 2 * 4 pairs with nothing relevant above (1 way) and anything below (5^(4-i)): 8 * 156.
    assert report.seen_graded == pytest.approx(8 * (125 + 25 + 5 + 1) / 10_000)


def test_a_rank_correlation_at_a_cutoff_rewards_a_worse_ranking() -> None:
    law = check_metric("KendallTau@4")["monotone"]
    assert law.holds is False
    before, after = law.counter_example.splitlines()[1:]
    assert before.endswith("scores 0")
    assert after.endswith(f"scores {-3 / math.sqrt(6 * 3):.6g}")


# --- whole golden sets ----------------------------------------------------------------------------

docs = st.sampled_from([f"d{i}" for i in range(16)])
judged = st.dictionaries(docs, st.sampled_from([-1, 0, 1, 1, 2, 3]), max_size=14)
rankings = st.lists(docs, unique=True, max_size=16)
queries = st.sampled_from([f"q{i}" for i in range(6)])
TOP = {"always": {"d0": 3, "d1": 1}}
"""A query that every golden set has, so that the scale is the same."""


def values(name: str, judgments: dict, ranked: dict) -> dict[str, float]:
    golden = GoldenSet.from_dict({**judgments, **TOP})
    run = Run.from_dict({**ranked, "always": ["d1"]})
    return evaluate(run, golden).per_query(name).to_dict()


@examples(150)
@given(
    name=every_metric,
    judgments=st.dictionaries(queries, judged, min_size=1),
    ranked=st.dictionaries(queries, rankings),
    random=st.randoms(use_true_random=False),
)
def test_the_order_of_queries_and_rows_does_not_change_the_values(
    name: str, judgments: dict, ranked: dict, random: object
) -> None:
    def shuffled(mapping: dict) -> dict:
        items = list(mapping.items())
        random.shuffle(items)  # type: ignore[attr-defined]
        return dict(items)

    golden = GoldenSet.from_dict({**judgments, **TOP})
    first = evaluate(Run.from_dict({**ranked, "always": ["d1"]}), golden)
    second = evaluate(
        Run.from_dict(shuffled({**ranked, "always": ["d1"]})),
        GoldenSet.from_dict({q: shuffled(g) for q, g in shuffled({**judgments, **TOP}).items()}),
    )
    np.testing.assert_equal(second.per_query(name).to_dict(), first.per_query(name).to_dict())
    np.testing.assert_equal(second.mean(name), first.mean(name))


@examples(200)
@given(name=every_metric, judgments=judged, ranked=rankings, one=docs, other=docs)
def test_the_same_swap_in_the_ranking_and_the_judgments_changes_nothing(
    name: str, judgments: dict, ranked: list[str], one: str, other: str
) -> None:
    """Robustness of type II: a metric sees no ids, so this is about finding the judged hits."""
    renamed = {one: other, other: one}
    exchanged = {renamed.get(doc, doc): grade for doc, grade in judgments.items()}
    before = values(name, {"q": judgments}, {"q": ranked})["q"]
    after = values(name, {"q": exchanged}, {"q": [renamed.get(doc, doc) for doc in ranked]})["q"]
    np.testing.assert_equal(after, before)


def test_an_empty_golden_query_an_empty_ranking_and_one_query_are_possible() -> None:
    for name in names():
        found = values(name, {"q": {}, "r": {"d1": 1}}, {"q": ["d1"], "r": []})
        assert set(found) == {"q", "r", "always"}
        golden = GoldenSet.from_dict({"q": {"d1": 1, "d2": 2}})
        assert evaluate(Run.from_dict({"q": ["d2", "d1"]}), golden).values(name).shape == (1,)


def test_the_names_in_this_file_cover_the_registry() -> None:
    assert {Metric.parse(name).name for name in names()} == set(judged_definitions())
