"""Laws that hold for every metric of the registry, whatever its formula.

By exhaustion: all rankings of five documents, for every choice of grades. By hypothesis: longer
rankings, and whole golden sets with unjudged documents and negative grades.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from family_tables import names, plain_names
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Metric, Run, check_metric, evaluate
from pytest_rankcheck.metrics.laws.change_laws import changes_by_rank, robust_1, sensitive
from pytest_rankcheck.metrics.laws.law_check import LAWS, usual_scale
from pytest_rankcheck.metrics.laws.law_trials import TrialRankings, TrialSubject, all_rankings
from pytest_rankcheck.metrics.laws.value_laws import form, in_range
from pytest_rankcheck.metrics.metric_registry import judged_definitions
from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

every_metric = pytest.mark.parametrize("name", names())


# --- all rankings of five documents ---------------------------------------------------------------


@every_metric
def test_exactly_the_declared_laws_hold(name: str) -> None:
    check_metric(name).raise_if_broken()


@pytest.mark.parametrize("name", plain_names())
@pytest.mark.parametrize("cutoff", [1, 2, 4, 10])
def test_the_declared_laws_hold_at_every_cutoff(name: str, cutoff: int) -> None:
    metric = Metric.parse(name)
    if metric.definition.at == "cutoff" and metric.cutoff is None:
        check_metric(f"{name}@{cutoff}").raise_if_broken()


@pytest.mark.parametrize("name", plain_names())
def test_all_laws_are_declared_of_our_own_metrics(name: str) -> None:
    for result in check_metric(name):
        assert result.declared is not None, result.law


def test_grades_that_are_probabilities() -> None:
    report = check_metric("ERR(stop=identity)", scale=(0, 0.25, 0.5, 1)).raise_if_broken()
    assert report["identity"].holds is False  # the one that stops everybody hides what is below


# --- known from theory; derived in docs/metric-laws.md --------------------------------------------


def test_ndcg_of_distinct_grades_has_one_optimum() -> None:
    rankings = all_rankings((0, 1, 2, 3, 4), 5)
    distinct = np.array([len(set(row)) == 5 for row in rankings.sequences.tolist()])
    assert distinct.sum() == 120
    values = TrialSubject(Metric.parse("nDCG"), rankings).values[distinct]
    assert (values == 1).sum() == 1
    assert np.sort(values)[-2] < 0.995  # grades 1 and 0 exchanged at ranks 4 and 5
    assert rankings.sequences[distinct][np.argmax(values)].tolist() == [4, 3, 2, 1, 0]
    assert check_metric("nDCG")["identity"].holds is True


def test_precision_does_not_see_a_swap_inside_the_top_k() -> None:
    changes = changes_by_rank(TrialSubject(Metric.parse("P@3"), all_rankings((0, 1), 5)))
    assert changes.tolist() == [0, 0, pytest.approx(1 / 3), 0]


def test_reciprocal_rank_sees_only_the_first_relevant() -> None:
    rankings = all_rankings((0, 1), 5)
    subject = TrialSubject(Metric.parse("RR"), rankings)
    firsts = rankings.sequences.argmax(axis=1)
    some = rankings.sequences.any(axis=1)
    for place in range(4):
        swapped = rankings.swapped(place)
        moved = some & (swapped.argmax(axis=1) != firsts)
        assert ((subject.swapped(place) != subject.values) == moved).all()
    # 1 - 1/2, 1/2 - 1/3, ...
    expected = [1 / 2, 1 / 6, 1 / 12, 1 / 20]
    assert changes_by_rank(subject).tolist() == pytest.approx(expected)


def test_reciprocal_rank_is_blind_to_most_swaps() -> None:
    # Worked by hand: docs/metric-laws.md. Of the 4 * 2 * 2^3 = 64 swaps of a relevant document with
    # another in the 32 binary rankings of 5, it sees those with nothing relevant above:
    # 2 * (2^3 + 2^2 + 2 + 1) = 30.
    report = check_metric("RR")
    assert report.seen_binary == pytest.approx(30 / 64)
    # In graded judgments it sees a swap only of a relevant and an irrelevant document. Of 5^5
    # rankings with 5 grades, 4 * 20 * 5^3 = 10,000 swaps of different grades; seen at rank i are
    # 2 * 4 pairs with nothing relevant above (1 way) and anything below (5^(4-i)): 8 * 156.
    assert report.seen_graded == pytest.approx(8 * (125 + 25 + 5 + 1) / 10_000)


def test_a_rank_correlation_at_a_cutoff_rewards_a_worse_ranking() -> None:
    example = check_metric("KendallTau@4")["monotone"].counter_example
    assert example is not None
    assert [one.value for one in example.rankings] == [0, pytest.approx(-3 / math.sqrt(6 * 3))]


# --- longer rankings ------------------------------------------------------------------------------


@st.composite
def longer(draw: st.DrawFn, metric: Metric, binary: bool) -> TrialRankings:
    """Some rankings of the same 6 to 9 documents, the ideal one and the worst among them.

    At most four have the highest grade: after five, a user of ERR goes on with a probability of
    16 ** -5, and what comes then is below the precision of the laws.
    """
    scale = usual_scale(metric)
    chosen = (scale[0], scale[-1]) if binary else scale
    size = draw(st.integers(6, 9))
    drawn = st.lists(st.sampled_from(chosen), min_size=size, max_size=size)
    grades = draw(drawn.filter(lambda grades: grades.count(scale[-1]) <= 4))
    orders = draw(st.lists(st.permutations(grades[:-1]), min_size=4, max_size=8))
    rows = [[*order, grades[-1]] for order in orders]
    both_ends = [sorted(grades, reverse=True), sorted(grades)]
    return TrialRankings(np.array([*both_ends, *rows], dtype=float), scale)


@every_metric
@examples(6)
@given(data=st.data())
def test_the_laws_hold_on_longer_rankings(name: str, data: st.DataObject) -> None:
    metric = Metric.parse(name)
    for binary in (False, True):
        subject = TrialSubject(metric, data.draw(longer(metric, binary)))
        kept = {True, "binary"} if binary else {True}
        for law in (form, in_range, *LAWS):
            if law is sensitive:  # about the largest change of all rankings, not of some
                continue
            if law is robust_1 and not metric.declared("optimal"):  # the best value is unknown
                continue
            if law in LAWS and metric.declared(law.__name__) not in kept:
                continue
            cases = law(subject)
            assert cases is None or cases.holds is True, (law.__name__, cases.counter_example())


@pytest.mark.parametrize("name", plain_names())
def test_sensitivity_on_all_binary_rankings_of_eight(name: str) -> None:
    metric = Metric.parse(name)
    scale = usual_scale(metric)
    cases = sensitive(TrialSubject(metric, all_rankings((scale[0], scale[-1]), 8)))
    assert cases is not None
    assert cases.holds is bool(metric.declared("sensitive"))


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


@every_metric
@examples(10)
@given(judgments=judged, ranked=rankings)
def test_values_are_within_the_declared_range(
    name: str, judgments: dict, ranked: list[str]
) -> None:
    lowest, highest = Metric.parse(name).definition.range
    found = values(name, {"q": judgments}, {"q": ranked})["q"]
    assert math.isnan(found) or lowest - 1e-12 <= found <= highest + 1e-12


@every_metric
@examples(10)
@given(judgments=judged, ranked=rankings.filter(lambda ranked: len(ranked) > 1), data=st.data())
def test_a_better_document_that_moves_up_never_makes_a_monotone_metric_worse(
    name: str, judgments: dict, ranked: list[str], data: st.DataObject
) -> None:
    metric = Metric.parse(name)
    if not metric.is_monotone or "judged_only" in name:
        return
    place = data.draw(st.integers(0, len(ranked) - 2))
    above, below = ranked[place : place + 2]
    if judgments.get(below, 0) <= max(judgments.get(above, 0), 0):
        return
    better = [*ranked[:place], below, above, *ranked[place + 2 :]]
    before = values(name, {"q": judgments}, {"q": ranked})["q"]
    after = values(name, {"q": judgments}, {"q": better})["q"]
    gain = after - before if metric.higher_is_better else before - after
    assert gain >= -1e-12 or math.isnan(before)


@every_metric
@examples(4)
@given(
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


@every_metric
@examples(5)
@given(judgments=judged, ranked=rankings, one=docs, other=docs)
def test_the_same_swap_in_the_ranking_and_the_judgments_changes_nothing(
    name: str, judgments: dict, ranked: list[str], one: str, other: str
) -> None:
    """Robustness of type II: a metric sees no ids, so this is about finding the judged hits."""
    renamed = {one: other, other: one}
    exchanged = {renamed.get(doc, doc): grade for doc, grade in judgments.items()}
    before = values(name, {"q": judgments}, {"q": ranked})["q"]
    after = values(name, {"q": exchanged}, {"q": [renamed.get(doc, doc) for doc in ranked]})["q"]
    np.testing.assert_equal(after, before)


@every_metric
def test_an_empty_golden_query_an_empty_ranking_and_one_query_are_possible(name: str) -> None:
    found = values(name, {"q": {}, "r": {"d1": 1}}, {"q": ["d1"], "r": []})
    assert set(found) == {"q", "r", "always"}
    golden = GoldenSet.from_dict({"q": {"d1": 1, "d2": 2}})
    assert evaluate(Run.from_dict({"q": ["d2", "d1"]}), golden).values(name).shape == (1,)


def test_the_names_in_this_file_cover_the_registry() -> None:
    assert {Metric.parse(name).name for name in names()} == set(judged_definitions())
