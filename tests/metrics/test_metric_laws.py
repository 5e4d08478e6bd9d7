"""Laws that hold for every metric of the registry, whatever its formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate
from pytest_rankcheck.metrics.registry import judged_definitions

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

VARIANTS = {
    "nDCG": ["(gain=exponential)@4", "(discount=power(0.5))", "(judged_only=true)@3"],
    "DCG": ["(gain=exponential,discount=linear)@4"],
    "AP": ["(divide=min)@3", "(rel=2)", "(divide=retrieved)"],
    "RBP": ["(p=0.5,graded=true)"],
    "ERR": ["(stop=sigmoid(1,1))@5"],
    "IPrec": ["(rel=2)@0", "@1"],
    "KendallTau": ["(ties=a)", "(ties=c)@5"],
    "TauAP": ["(ties=b)@6"],
    "MeanRank": ["(missing=omit)@4"],
    "GAP": ["(thresholds={1:0.2,2:0.3,3:0.5})"],
    "P": ["(rel=3)@2"],
}


def names() -> list[str]:
    """Return every metric of the registry, with and without a cutoff, and with parameters."""
    found = []
    for name, definition in judged_definitions().items():
        match definition.at:
            case "recall":
                found.append(f"{name}@0.5")
            case "cutoff":
                found += [name, f"{name}@3"]
            case _:
                found.append(name)
        found += [f"{name}{variant}" for variant in VARIANTS.get(name, [])]
    return found


every_metric = pytest.mark.parametrize("name", names())

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
@settings(max_examples=40, deadline=None)
@given(judgments=judged, ranked=rankings)
def test_values_are_within_the_range_that_is_declared(
    name: str, judgments: dict, ranked: list[str]
) -> None:
    lowest, highest = Metric.parse(name).definition.range
    found = values(name, {"q": judgments}, {"q": ranked})["q"]
    assert math.isnan(found) or lowest - 1e-12 <= found <= highest + 1e-12


@every_metric
@settings(max_examples=40, deadline=None)
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
    assert gain >= -1e-12


def test_the_metrics_that_claim_monotonicity() -> None:
    """A claim taken back is a change of what the manual says."""
    claiming = {name for name in names() if Metric.parse(name).is_monotone}
    plain = {name for name in claiming if name in judged_definitions()}
    assert plain == {
        "AP", "AR", "Bpref", "CG", "DCG", "ERR", "F", "FirstRank", "GAP", "GMAP", "MeanRank", "NumRelRet", "P", "R",
        "RBP", "RR", "Rprec", "Success", "nDCG", "nERR",
    }  # fmt: skip


@every_metric
@settings(max_examples=15, deadline=None)
@given(
    judgments=st.dictionaries(queries, judged, min_size=1),
    ranked=st.dictionaries(queries, rankings),
    random=st.randoms(use_true_random=False),
)
def test_the_order_of_queries_and_of_input_rows_changes_no_bit(
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
def test_an_empty_golden_query_an_empty_ranking_and_one_query_are_possible(name: str) -> None:
    found = values(name, {"q": {}, "r": {"d1": 1}}, {"q": ["d1"], "r": []})
    assert set(found) == {"q", "r", "always"}
    golden = GoldenSet.from_dict({"q": {"d1": 1, "d2": 2}})
    assert evaluate(Run.from_dict({"q": ["d2", "d1"]}), golden).values(name).shape == (1,)


NOT_BEST_AT_THE_TOP = {
    "TauAP@3": "the order in the top k only, where fewer equal grades allow more",
    "TauAP(ties=b)@6": "the same",
    "MeanRank(missing=omit)@4": "what is not found is left out",
}


@every_metric
def test_a_perfect_ranking_is_the_best_there_is(name: str) -> None:
    if name in NOT_BEST_AT_THE_TOP:
        return
    metric = Metric.parse(name)
    grades = {f"d{i}": grade for i, grade in enumerate((3, 3, 2, 2, 1, 1, 0, 0))}
    golden = GoldenSet.from_dict({"q": grades})
    best = evaluate(Run.from_dict({"q": list(grades)}), golden).mean(name)
    for seed in range(30):
        order = np.random.default_rng(seed).permutation(list(grades)).tolist()
        other = evaluate(Run.from_dict({"q": order}), golden).mean(name)
        if math.isnan(other):
            continue
        assert (best >= other - 1e-12) if metric.higher_is_better else (best <= other + 1e-12)


def test_the_names_in_this_file_cover_the_registry() -> None:
    assert {Metric.parse(name).name for name in names()} == set(judged_definitions())
