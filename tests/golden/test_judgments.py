"""Judgments in columns, and the dicts that are a view of them."""

import numpy as np

from pytest_rankcheck.files.id_columns import NumberIds
from pytest_rankcheck.golden.judgments import Judgments
from tests.libraries import NEEDS_POLARS

GRADES = {"q1": {"d3": 2, "7": 0.5}, "empty": {}, "q2": {"007": -1, "\ud800": 1}}


def test_only_ids_that_a_number_spells_are_numbers() -> None:
    numbers, rows = Judgments.of_dicts(GRADES).numbers
    assert (numbers.ids.tolist(), rows.tolist()) == ([7], [1])


@NEEDS_POLARS
def test_documents_as_text_in_polars() -> None:
    assert Judgments.of_dicts(GRADES).texts.texts() == ["d3", "7", "007", None]
    numbers = Judgments(("q",), np.array([0, 2]), NumberIds(np.array([4, -4])), np.zeros(2))
    assert numbers.texts.texts() == ["4", "-4"]
