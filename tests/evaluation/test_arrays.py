"""Evaluating arrays of scores and labels, checked against scikit-learn's values and by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Run,
    RunError,
    assert_ndcg_at_least,
    evaluate,
    evaluate_arrays,
)

SCORES = np.array([0.2, 0.9, 0.5, 0.1, 0.3])
LABELS = np.array([3, 0, 1, 1, 0])
GROUPS = [3, 2]


def test_the_values_by_hand() -> None:
    """Query 1 ranks the grades 0, 1, 3, query 2 ranks 0, 1.

    nDCG of 1: (1/log2 3 + 3/log2 4) / (3 + 1/log2 3); of 2: (1/log2 3) / 1.
    """
    evaluation = evaluate_arrays(SCORES, LABELS, GROUPS)
    third = 1 / math.log2(3)
    expected = [(third + 1.5) / (3 + third), third]
    assert evaluation.values("nDCG").tolist() == pytest.approx(expected)
    assert evaluation.values("RR").tolist() == [0.5, 0.5]
    assert_ndcg_at_least(evaluation, 0.6)


def test_messages_lead_back_to_the_rows() -> None:
    evaluation = evaluate_arrays(SCORES, LABELS, GROUPS)
    assert evaluation.query_ids == ("1", "2")
    assert evaluation.ranking("1") == ("1", "2", "0")
    assert evaluation.golden.grades("2") == {"3": 1, "4": 0}


def test_two_dimensions_are_a_row_for_each_query() -> None:
    random = np.random.default_rng(3)
    scores, labels = random.random((40, 12)), random.integers(0, 4, (40, 12))
    flat = evaluate_arrays(scores.ravel(), labels.ravel(), [12] * 40)
    both = evaluate_arrays(scores, labels)
    assert both.values("nDCG@5").tobytes() == flat.values("nDCG@5").tobytes()
    assert both.golden.fingerprint == flat.golden.fingerprint


def test_arrays_give_the_bits_of_dicts() -> None:
    random = np.random.default_rng(8)
    sizes = random.integers(0, 9, 50)
    scores = random.integers(0, 6, sizes.sum()) / 2  # many ties
    labels = random.integers(-1, 4, sizes.sum())
    rows = np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])
    ids = [str(number) for number in range(1, 51)]

    def in_dicts(values: np.ndarray) -> dict[str, dict[str, float]]:
        some = [{str(row): float(values[row]) for row in own} for own in rows]
        return dict(zip(ids, some, strict=True))

    golden, run = GoldenSet.from_dict(in_dicts(labels)), Run.from_dict(in_dicts(scores))
    by_id = evaluate_arrays(scores, labels, sizes, ties="doc_id")
    assert by_id.golden.fingerprint == golden.fingerprint
    for metric in ("nDCG@3", "AP", "ERR", "P@4"):
        assert by_id.values(metric).tobytes() == evaluate(run, golden).values(metric).tobytes()


def test_ties_are_in_the_order_of_the_rows() -> None:
    evaluation = evaluate_arrays([1.0, 1.0, 1.0], [0, 1, 2], [3])
    assert evaluation.ranking("1") == ("0", "1", "2")
    assert evaluation.values("RR").tolist() == [0.5]
    with pytest.raises(RunError, match="same score"):
        evaluate_arrays([1.0, 1.0], [0, 1], [2], ties="error")


def test_what_is_wrong_is_named() -> None:
    for scores, labels, options, message in (
        ([1.0, 2.0], [1], {"groups": [2]}, r"shape \(2,\), labels \(1,\); give one label"),
        ([1.0, 2.0], [1, 0], {}, "give groups=, how many"),
        ([1.0, 2.0], [1, 0], {"groups": [1]}, "numbers from 0 on that add up to 2 rows"),
        ([1.0, 2.0], [1, 0], {"groups": [5, 6]}, "from the query of each row, in sorted"),
        ([1.0, 2.0], [1, 0], {"groups": [3, -1]}, "whole numbers from 0 on"),
        ([1.0, 2.0], [1, 0], {"groups": [1.5, 0.5]}, "whole numbers from 0 on"),
        ([[1.0, 2.0]], [[1, 0]], {"groups": [2]}, "and no groups="),
        ([1.0, math.nan], [1, 0], {"groups": [2]}, r"scores\[1\] is nan; give finite"),
        ([[1.0, 2.0]], [[1, math.inf]], {}, r"labels\[0, 1\] is inf; give finite"),
        (["1", "2"], [1, 0], {"groups": [2]}, "scores hold .*, not numbers"),
        ([], [], {"groups": []}, r"have the shape \(0,\)"),
        (
            np.ma.array([1.0, 2.0], mask=[0, 1]),
            [1, 0],
            {"groups": [2]},
            "scores have masked values",
        ),
        (
            pd.Series([1.0, 2.0], index=[5, 3]),
            pd.Series([1, 0], index=[3, 5]),
            {"groups": [2]},
            "scores and labels have different indexes",
        ),
    ):
        with pytest.raises(ConfigurationError, match=message):
            evaluate_arrays(scores, labels, **options)


@pytest.mark.parametrize(
    ("scores", "labels", "are_exchanged"),
    [
        ([[2, 0, 1, 0]], [[0.9, 0.1, 0.5, 0.3]], True),
        ([[2.5, 0.1, 1.5]], [[1.2, -0.4, 0.0]], True),
        ([[True, False, True, False]], [[1.37, 0.2, 0.4, 0.3]], True),
        ([[0.9, 0.1, 0.5]], [[2, 0, -1]], False),
        ([[1, 0, 1, 0, 1, 0]], [[0.5, 0, 1, 0.5, 0, 1]], False),  # grades may be halves
        ([[30, 20, 10]], [[0.31, 0.2, 0.05]], False),  # or rates of clicks
        ([[2, 0, 1]], [[3, 4, 5]], False),
    ],
)
def test_exchanged_scores_and_labels_are_refused_if_the_labels_cannot_be_grades(
    scores: list, labels: list, are_exchanged: bool
) -> None:
    if not are_exchanged:
        assert evaluate_arrays(scores, labels).mean("RR") > 0
        return
    with pytest.raises(ConfigurationError, match="cannot be grades; are scores and labels exch"):
        evaluate_arrays(scores, labels)
