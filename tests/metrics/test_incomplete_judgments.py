"""Bpref and infAP worked out by hand, with the working above each value; GAUC: test_grouped_auc."""

import math

import pytest
from worked import UNJUDGED, value

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = ["GAUC(rel=2)"]
ON_AN_EMPTY_RANKING = WITH_NOTHING_RELEVANT = {"GAUC": math.nan}

# relevant, not, relevant, not, unjudged, relevant; one relevant and one not are not retrieved:
# m = 4, N = 3.
POOLED = ((1, 0, 1, 0, UNJUDGED, 1), (1, 0))


def test_incomplete_judgments() -> None:
    for metric, ranked, unretrieved, expected in (
        # (1 + (1 - 1/3) + (1 - 2/3)) / 4
        ("Bpref", *POOLED, 0.5),
        # a negative grade is not a judgment
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
    ):
        assert value(metric, ranked, unretrieved) == pytest.approx(expected, abs=2e-5), metric
