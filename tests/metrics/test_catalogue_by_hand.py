"""Values of the rest of the catalogue, worked out by hand; the working stands above each."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from worked import UNJUDGED, evaluation_of, value

from pytest_rankcheck import GoldenSet, Metric, MetricError, Run, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

# Ranked: unjudged, 0, 1, 2, unjudged, 3; a 1 and a 2 are not retrieved.
# n = 6, m = 5, relevant at 3, 4, 6; for rel=2 m = 3, relevant at 4, 6.
MIXED = ((UNJUDGED, 0, 1, 2, UNJUDGED, 3), (1, 2))

# The catalogue's binary example: relevant at 1, 2, 4, 5, 7, 9 of 10, m = 6.
BINARY = ((1, 1, 0, 1, 1, 0, 1, 0, 1, 0), ())


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # 1 + 2 + 3
        ("CG", 6),
        ("CG@4", 3),
        ("CG@2", 0),
        # log2(4, 5, 7) = 2, 2.321928, 2.807355: 1/2 + 2/2.321928 + 3/2.807355
        ("DCG", 0.5 + 0.861353 + 1.068622),
        ("DCG@4", 0.5 + 0.861353),
        # gains 1, 3, 7 by rank: 1/3 + 3/4 + 7/6
        ("DCG(gain=exponential,discount=linear)", 1 / 3 + 3 / 4 + 7 / 6),
        ("FirstRank", 3),
        ("FirstRank@3", 3),
        # none in the top 2: 2 + 1; none at all of grade 4: 6 + 1
        ("FirstRank@2", 3),
        ("FirstRank(rel=4)", 7),
        ("FirstRank(rel=4)@20", 21),
        ("FirstRank(missing=omit)@2", math.nan),
        # (3 + 4 + 6 + 7 + 7) / 5
        ("MeanRank", 27 / 5),
        # (3 + 4 + 5 + 5 + 5) / 5
        ("MeanRank@4", 22 / 5),
        ("MeanRank(missing=omit)", 13 / 3),
        ("MeanRank(missing=omit)@4", 3.5),
        ("MeanRank(missing=omit)@2", math.nan),
        # (4 + 6 + 7) / 3
        ("MeanRank(rel=2)", 17 / 3),
        # P = 3/6, R = 3/5: 2 * 0.3 / 1.1
        ("F", 0.6 / 1.1),
        # P = 2/4, R = 2/5: 2 * 0.2 / 0.9
        ("F@4", 0.4 / 0.9),
        # 5 * 0.3 / (4 * 0.5 + 0.6)
        ("F(beta=2)", 1.5 / 2.6),
        ("F@2", 0),
        # of the first 5, two; of the first 3 (rel=2), none
        ("Rprec", 2 / 5),
        ("Rprec(rel=2)", 0),
        ("Rprec@3", 1 / 5),
        # thresholds equally likely, G(g) = g/3: 1/3 * 1 + 1/4 * (1 + 2) + 1/6 * (1 + 2 + 3), by
        # all that is judged, 1 + 2 + 3 + 1 + 2 = 9 (the 1/3 of G cancels)
        ("GAP", (1 / 3 + 3 / 4 + 1) / 9),
        ("GAP@4", (1 / 3 + 3 / 4) / 9),
        # G = 0.2, 0.5, 1: (0.2/3 + 0.7/4 + 1.7/6) / (0.2 + 0.5 + 1 + 0.2 + 0.5)
        ("GAP(thresholds={1:0.2,2:0.3,3:0.5})", (0.2 / 3 + 0.7 / 4 + 1.7 / 6) / 2.4),
        # (1 - p) (p^2 + p^3 + p^5)
        ("RBP", 0.2 * (0.64 + 0.512 + 0.32768)),
        ("RBP(p=0.5)", 0.5 * (0.25 + 0.125 + 0.03125)),
        ("RBP(p=0.5)@4", 0.5 * 0.375),
        ("RBP(p=0.5,rel=2)", 0.5 * (0.125 + 0.03125)),
        # gains 1/3, 2/3, 1
        ("RBP(p=0.5,graded=true)", 0.5 * (0.25 / 3 + 0.25 / 3 + 0.03125)),
        # judged at 2, 3, 4, 6
        ("RBPResidual(p=0.5)", 1 - 0.5 * (0.5 + 0.25 + 0.125 + 0.03125)),
        ("RBPResidual(p=0.5)@3", 1 - 0.5 * 0.75),
        ("Judged", 4 / 6),
        ("Judged@4", 3 / 4),
        ("Judged@10", 4 / 10),
        ("NumRet", 6),
        ("NumRet@4", 4),
        ("NumRet@10", 6),
        ("NumRet(rel=2)", 2),
        ("NumRel", 5),
        ("NumRel(rel=2)", 3),
        ("NumRelRet", 3),
        ("NumRelRet@4", 2),
        ("NumRelRet(rel=2)", 2),
    ],
)
def test_graded_and_unjudged_documents(metric: str, expected: float) -> None:
    assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # precision at each: 1, 1, 3/4, 4/5, 5/7, 6/9; recall 1/6, 2/6, ... 1
        ("IPrec@0", 1),
        ("IPrec@0.3", 1),
        # from the third on (3/6 = 0.5): the highest is 4/5
        ("IPrec@0.5", 4 / 5),
        ("IPrec@0.9", 6 / 9),
        ("IPrec@1", 6 / 9),
        # 0.4 of 6 is 2.4: three are needed; rounded, two
        ("IPrec@0.4", 4 / 5),
        ("IPrec(needed=rounded)@0.4", 1),
        # (1/6 + 2/6 + ... + 6/6) / 6
        ("AR", 21 / 36),
        # three in the top 4: (1/6 + 2/6 + 3/6) / 3
        ("AR@4", 1 / 3),
        # of a binary set GAP is AP: (1 + 1 + 3/4 + 4/5 + 5/7 + 6/9) / 6
        ("GAP", 4.930952 / 6),
        ("GMAP", 4.930952 / 6),
    ],
)
def test_the_catalogues_binary_example(metric: str, expected: float) -> None:
    assert value(metric, *BINARY) == pytest.approx(expected, abs=1e-6)


def test_the_geometric_mean_decides_by_the_hard_queries() -> None:
    golden = GoldenSet.from_dict({"p": {"a": 1}, "q": {"a": 1}, "r": {"a": 1}})
    run = Run.from_dict({"p": ["x", "a"], "q": ["x"], "r": ["a"]})
    evaluation = evaluate(run, golden)
    assert evaluation.per_query("GMAP").to_list() == [0.5, 1e-5, 1]
    # (0.5 * 0.00001 * 1)^(1/3) = 0.0171
    assert evaluation.mean("GMAP") == pytest.approx(5e-6 ** (1 / 3), rel=1e-12)
    assert evaluation.mean("AP") == 0.5
    assert evaluation.median("AP") == 0.5
    assert evaluation.median("RR") == 0.5


# --- incomplete judgments ----------------------------------------------------------------------

# relevant, not, relevant, not, unjudged, relevant; one relevant and one not are not retrieved:
# m = 4, N = 3.
POOLED = ((1, 0, 1, 0, UNJUDGED, 1), (1, 0))


@pytest.mark.parametrize(
    ("metric", "ranked", "unretrieved", "expected"),
    [
        # (1 + (1 - 1/3) + (1 - 2/3)) / 4
        ("Bpref", *POOLED, 0.5),
        # a negative grade is no judgment
        ("Bpref", (1, 0, 1, 0, -1, 1), (1, 0), 0.5),
        # the first three only: (1 + 2/3) / 4
        ("Bpref@3", *POOLED, 5 / 12),
        # nothing is judged not relevant: every relevant document found counts 1
        ("Bpref", (UNJUDGED, 1, UNJUDGED, 1), (), 1),
        # more judged not relevant than m: at most m count; (1 - min(3, 2)/min(4, 2)) + ... = 0
        ("Bpref", (0, 0, 0, 1, 1), (0,), 0),
        # rel=2: the 1 is judged not relevant, m = 1, N = 2: 1 - 1/1
        ("Bpref(rel=2)", (1, 2, 0), (), 0),
        # rank 1: 1; rank 3: 1/3 + 2/3 * 2/2 * 1/2; rank 6: 1/6 + 5/6 * 4/5 * 2/4; by 4
        ("infAP", *POOLED, (1 + 2 / 3 + 1 / 2) / 4),
        # pooled but not judged: rank 6: 1/6 + 5/6 * 5/5 * 2/4
        ("infAP", (1, 0, 1, 0, -1, 1), (1, 0), (1 + 2 / 3 + 7 / 12) / 4),
        # nothing judged above rank 2: 1/2 + 1/2 * 0/1
        ("infAP", (UNJUDGED, 1), (), 0.5),
    ],
)
def test_incomplete_judgments(
    metric: str, ranked: tuple[float | None, ...], unretrieved: tuple[float, ...], expected: float
) -> None:
    # infAP adds 0.00001 to its counts
    assert value(metric, ranked, unretrieved) == pytest.approx(expected, abs=2e-5)


# --- cascade -----------------------------------------------------------------------------------


def test_nerr_is_err_by_that_of_the_ideal_ranking() -> None:
    # p of 3, 2, 1 with max 3: 7/8, 3/8, 1/8
    # 3, 2, 3, 1, 0: 0.875 + 0.0234375 + 0.022786458 + 0.000305176          = 0.921529134
    # 3, 3, 2, 1, 0: 0.875 + 1/2 0.875/8 + 1/3 0.375/64 + 1/4 0.125 0.0097656
    #              = 0.875 + 0.0546875 + 0.001953125 + 0.000305176            = 0.931945801
    assert value("nERR", (3, 2, 3, 1, 0)) == pytest.approx(0.921529134 / 0.931945801, abs=1e-8)
    assert value("nERR", (3, 3, 2, 1, 0)) == 1
    # at 1, ideal and ranking begin with a 3
    assert value("nERR@1", (3, 2, 3, 1, 0)) == 1
    # a grade of 1,000 overflows nothing
    assert value("nERR", (1000, 1)) == value("ERR", (1000, 1)) == 1


# --- agreement of two orders -----------------------------------------------------------------

# Pairs of 3, 1, 2, 0: in order 31, 32, 30, 10, 20; against it 12.
UNTIED = (3, 1, 2, 0)
# Pairs of 2, 1, 2, unjudged: in order 21, 2u, 1u, 2u; against 12; tied 22.
TIED = (2, 1, 2, UNJUDGED)


@pytest.mark.parametrize(
    ("metric", "ranked", "expected"),
    [
        ("KendallTau", UNTIED, 4 / 6),
        ("KendallTau(ties=a)", UNTIED, 4 / 6),
        ("KendallTau(ties=a)", TIED, 3 / 6),
        # 3 / sqrt(6 * 5)
        ("KendallTau", TIED, 3 / math.sqrt(30)),
        # n = 4, three distinct grades: 2 * 3 / (16 * 2/3)
        ("KendallTau(ties=c)", TIED, 0.5625),
        # 2, 1, 2: one pair in order, one against, one tied
        ("KendallTau(judged_only=true)", TIED, 0),
        # 3, 1, 2
        ("KendallTau@3", UNTIED, 1 / 3),
        ("KendallDistance", UNTIED, 1),
        ("KendallDistance(normalised=pairs)", UNTIED, 1 / 6),
        ("KendallDistance(normalised=graded)", TIED, 1 / 5),
        # ranks by grade 1, 3, 2, 4; 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
        ("Spearman", UNTIED, 0.8),
        # ranks by grade 1.5, 3, 1.5, 4; deviations -1, 0.5, -1, 1.5 and -1.5, -0.5, 0.5, 1.5:
        # 3 / sqrt(4.5 * 5)
        ("Spearman", TIED, 3 / math.sqrt(22.5)),
        # second: 1; third: one higher and one lower above, 0; fourth: 3/3
        ("TauAP", UNTIED, 2 / 3),
        # second: 1; third: one tied, one lower, -1/2; fourth: 1
        ("TauAP", TIED, 1.5 / 3),
        # by the ranking: 2 (1 + 0 + 1)/3 - 1 = 1/3; by the grades: of the two higher than 1 one is
        # above it, all three are above the unjudged: 2 (1/2 + 1)/2 - 1 = 1/2
        ("TauAP(ties=b)", TIED, (1 / 3 + 1 / 2) / 2),
    ],
)
def test_agreement_of_the_ranking_with_the_grades(
    metric: str, ranked: tuple[float | None, ...], expected: float
) -> None:
    assert value(metric, ranked) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["KendallTau", "KendallTau(ties=c)", "Spearman", "TauAP"])
@pytest.mark.parametrize("ranked", [(3,), (2, 2, 2), (UNJUDGED, 0), (-1, 0)])
def test_an_undefined_agreement_is_zero(metric: str, ranked: tuple[float | None, ...]) -> None:
    assert evaluation_of(ranked, (1,)).per_query(metric)["q"] == 0


def test_ties_a_of_tau_ap_is_the_mean_over_all_orders_of_the_tied() -> None:
    ranked = (1, 3, 0, 1, 3, 1)
    values = []
    for tiebreak in itertools.permutations(range(6)):
        # another order of the same grades: a hundredth of a permutation breaks every tie
        distinct = [1 + grade + step / 100 for grade, step in zip(ranked, tiebreak, strict=True)]
        values.append(value("TauAP", tuple(distinct)))
    assert value("TauAP", ranked) == pytest.approx(np.mean(values), abs=1e-12)


# The data and values of the R package ircor (tests/testthat), by the authors of the paper.
IRCOR = [
    (
        (0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992),
        (0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988),
        (0.8519, 0.8333),
    ),
    (
        (0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38),
        (0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644),
        (0.2504, 0.2880),
    ),
    (
        (0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445),
        (0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25),
        (-0.6971, -0.668),
    ),
]


@pytest.mark.parametrize(("true", "estimated", "expected"), IRCOR)
def test_tau_ap_is_that_of_its_authors(
    true: tuple[float, ...], estimated: tuple[float, ...], expected: tuple[float, float]
) -> None:
    order = sorted(range(len(true)), key=lambda i: -estimated[i])
    ranked = tuple(true[i] for i in order)
    assert value("TauAP", ranked) == pytest.approx(expected[0], abs=6e-5)
    assert value("TauAP(ties=b)", ranked) == pytest.approx(expected[1], abs=6e-5)


# --- empty rankings and sets ------------------------------------------------------------------

EMPTY = {
    "FirstRank@5": 6,
    "MeanRank@5": 6,
    "GMAP": 1e-5,
    "RBPResidual@5": 1,
    "NumRel": 1,
}
"""What an empty ranking scores where that is not 0."""


def every_metric() -> list[str]:
    from pytest_rankcheck.metrics.metric_registry import judged_definitions

    names = []
    for name, definition in judged_definitions().items():
        at = {"cutoff": "@5", "recall": "@0.5", None: ""}[definition.at]
        names += [f"{name}{at}"] if name != "GMAP" else ["GMAP"]
    return names


@pytest.mark.parametrize("metric", every_metric())
def test_scores_of_an_empty_ranking(metric: str) -> None:
    evaluation = evaluate(
        Run.from_dict({"other": ["a"]}), GoldenSet.from_dict({"q": {"a": 1}, "other": {"a": 1}})
    )
    assert evaluation.per_query(metric)["q"] == EMPTY.get(metric, 0)


NOTHING_RELEVANT = {
    "FirstRank@5": 6,
    "MeanRank@5": 6,
    "GMAP": 1e-5,
    "RBPResidual@5": 1 - 0.2,
    "Judged@5": 1 / 5,
    "NumRet@5": 2,
}


@pytest.mark.parametrize("metric", every_metric())
def test_scores_of_a_query_with_nothing_relevant(metric: str) -> None:
    evaluation = evaluation_of((0, UNJUDGED), other={"x": 1})
    expected = NOTHING_RELEVANT.get(metric, 0)
    assert evaluation.per_query(metric)["q"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("IPrec", "IPrec needs a recall level after the @, as in IPrec@0.1"),
        ("IPrec@1.5", "recall=1.5 is invalid; recall takes a number from 0 to 1"),
        ("NumRel@5", "NumRel@5: NumRel has no cutoff"),
        ("RBP(p=1)", "p=1 is invalid; p takes a number between 0 and 1"),
        ("KendallTau(ties=d)", "ties takes a, b or c"),
        ("nDCG@0", "a cutoff must be a whole number of at least 1"),
        ("nDCG@2.5", "a cutoff must be a whole number of at least 1"),
    ],
)
def test_invalid_parameters_of_metrics(name: str, message: str) -> None:
    with pytest.raises(MetricError, match=message.replace("(", r"\(")):
        Metric.parse(name)


def test_thresholds_add_up_to_one() -> None:
    with pytest.raises(MetricError, match=r"the probabilities sum to 0.9; they must sum to 1"):
        value("GAP(thresholds={1:0.2,2:0.7})", (1, 2))


def test_graded_rbp_has_no_relevance_level() -> None:
    with pytest.raises(MetricError, match="graded=true cannot be combined with rel"):
        value("RBP(graded=true,rel=2)", (1, 2))


def test_huge_and_fractional_grades_count_as_they_are() -> None:
    """pytrec_eval, ir_measures and ranx raise on fractions; trec_eval makes them 0."""
    # (0.5 + 1e300/1.584963) / (1e300 + 0.5/1.584963)
    assert value("nDCG", (0.5, 1e300)) == pytest.approx(1 / 1.584963, abs=1e-6)
    assert value("CG", (0.5, 0.25)) == 0.75
    assert value("GAP", (0.5, 0.25)) == pytest.approx((0.5 + (0.25 + 0.25) / 2) / 0.75)
    assert value("KendallTau", (0.5, 0.25)) == 1
