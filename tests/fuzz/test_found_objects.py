"""What mutated dicts and texts have found, each as a plain example."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, perturbations


@pytest.mark.parametrize("judged", [None, 3, ["d1"], "d1"])
def test_judgments_of_a_query_that_are_no_dict_are_refused(judged: Any) -> None:
    with pytest.raises(GoldenSetError, match=r"query 'q1': its judgments are .*, not a dict"):
        GoldenSet.from_dict({"q1": judged})


@pytest.mark.parametrize("attributes", [None, 3, [1], "en"])
def test_attributes_of_a_query_that_are_no_dict_are_refused(attributes: Any) -> None:
    with pytest.raises(GoldenSetError, match=r"query 'q1': its attributes are .*, not a dict"):
        GoldenSet.from_dict({"q1": {"d1": 1}}, attributes={"q1": attributes})


def test_a_query_with_a_lone_surrogate_is_perturbed() -> None:
    for perturbation in perturbations().values():
        perturbation("red \ud800 shoes", seed=1)
