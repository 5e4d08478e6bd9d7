"""The same query with other attributes: what changes, who sees it, and what the failure shows."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Query,
    assert_invariant,
    counterfactual,
)
from pytest_rankcheck.rankers import batch, embedder, http, model, scorer
from pytest_rankcheck.rankers.ranker_lookup import adapter_of
from pytest_rankcheck.reports.findings import Note
from tests.behaviour.failures import failure_of

DEVICES = GoldenSet.from_dict(
    {"q1": {"a": 3, "b": 1}, "q2": {"b": 1}, "q3": {"c": 2}, "q4": {"a": 1}},
    {"q1": "red", "q2": "blue", "q3": "green", "q4": "hat"},
    attributes={
        "q1": {"device": "phone", "gender": "f"},
        "q2": {"device": "tablet", "gender": "m"},
        "q3": {"device": "phone"},
    },
    name="shop",
)


def fair(query: Query) -> list[str]:
    return ["a", "b", "c"]


def biased(query: Query) -> list[str]:
    """Rank backwards what a woman asks."""
    return ["c", "b", "a"] if query.attributes.get("gender") == "f" else ["a", "b", "c"]


def as_tablet(query: Query) -> Query:
    return replace(query, attributes={**query.attributes, "device": "tablet"})


def test_a_biased_ranker_is_caught_and_the_text_shows_the_attribute() -> None:
    genders = counterfactual("gender", ["f", "m"])
    text = failure_of(lambda: assert_invariant(biased, DEVICES, genders, p=0.8))
    # RBO of abc and cba at p = 0.8 is 0.72 (worked in test_invariance.py). nDCG@10 of q1 for c b a:
    # (1 / log2 3 + 3 / 2) / (3 + 1 / log2 3) = 0.5869; q2 has b at rank 2 both times: 0.6309.
    # The means: (0.5869 + 0.6309) / 2 = 0.6089 and (1 + 0.6309) / 2 = 0.8155.
    assert text.startswith("perturbation 'gender in f, m' changes the answers of ranker 'biased'")
    assert "  2 perturbed queries, 2 variants: mean RBO 0.7200 (p=0.8)\n" in text
    assert '    q1 "red"   gender: f -> m   RBO 0.720, nDCG@10 0.587 -> 1.000\n' in text
    assert "make the ranker answer the variants alike" in text
    with pytest.raises(AssertionError, match="broken by 2 of 2 queries, 1 allowed"):
        assert_invariant(biased, DEVICES, genders, allowed_queries=1)
    assert_invariant(fair, DEVICES, genders)


def test_an_attribute_that_has_the_value_is_unchanged(entered: list[Note]) -> None:
    assert_invariant(biased, DEVICES, as_tablet)  # the device does not matter to it
    assert entered[0].text.startswith(
        "perturbation 'as_tablet', ranker 'biased' on golden set 'shop' (4 queries): 0 of 3 "
        "perturbed queries ranked differently"
    )
    assert entered[0].text.endswith("; 1 query not perturbed")


def test_each_other_value_counts_and_the_query_itself_does_not() -> None:
    seen: list[object] = []

    def watching(query: Query) -> list[str]:
        seen.append((query.id, query.text, query.attributes.get("device")))
        return ["a"]

    golden = DEVICES.subset(["q1", "q2"])
    assert_invariant(watching, golden, counterfactual("device", ["phone", "tablet", "watch"]))
    # First as they are; then the first other value of each, the second of each.
    assert seen == [
        ("q1", "red", "phone"),
        ("q2", "blue", "tablet"),
        ("q1", "red", "tablet"),
        ("q2", "blue", "phone"),
        ("q1", "red", "watch"),
        ("q2", "blue", "watch"),
    ]


def test_a_misspelt_attribute_changes_nothing_and_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="'devise in phone' changes 0 of 4 queries"):
        assert_invariant(biased, DEVICES, counterfactual("devise", ["phone"]))
    with pytest.raises(ConfigurationError, match=r"counterfactual\('device', \[\]\) has no values"):
        counterfactual("device", [])


def test_values_that_the_queries_do_not_have_are_errors() -> None:
    message = (
        r"counterfactual\('gender', \['F', 'M'\]\): query 'q1' has gender 'f', which is not among "
        "the values; give all values, as the queries have them"
    )
    with pytest.raises(ConfigurationError, match=message):
        assert_invariant(fair, DEVICES, counterfactual("gender", ["F", "M"]))
    with pytest.raises(ConfigurationError, match="query 'q2' has gender 'm'"):
        assert_invariant(fair, DEVICES, counterfactual("gender", ["f", "F"]))


def test_queries_without_a_text_have_attributes_too() -> None:
    golden = GoldenSet.from_dict(
        {"u1": {"a": 1}}, attributes={"u1": {"gender": "f"}}, name="recommendations"
    )
    text = failure_of(
        lambda: assert_invariant(biased, golden, counterfactual("gender", ["f", "m"]))
    )
    assert "\n    u1   gender: f -> m   RBO 0.855, nDCG@10 0.500 -> 1.000\n" in text


def test_text_and_attributes_may_change_together() -> None:
    def in_german(query: Query) -> list[Query | str]:
        return [replace(query, text="rot", attributes={**query.attributes, "device": 1}), "rouge"]

    def by_text(query: Query) -> list[str]:
        return ["a", "b"] if query.text == "red" else ["b", "a"]

    text = failure_of(lambda: assert_invariant(by_text, DEVICES.subset(["q1"]), in_german))
    assert "1 perturbed query, 2 variants" in text
    assert '    q1 "red" -> "rot"   device: phone -> 1   RBO 0.900, nDCG@10' in text


def test_a_perturbation_that_writes_into_the_query_leaves_the_golden_set_alone() -> None:
    def in_place(query: Query) -> Query:
        query.attributes["gender"] = "m"  # type: ignore[index]
        return query

    text = failure_of(lambda: assert_invariant(biased, DEVICES.subset(["q1"]), in_place))
    assert "gender: f -> m" in text
    assert DEVICES.query("q1").attributes["gender"] == "f"


def test_an_attribute_that_is_a_list_or_an_array_can_change() -> None:
    golden = GoldenSet.from_dict(
        {"q1": {"a": 1}}, {"q1": "red"}, attributes={"q1": {"tags": ["x", "y"], "n": math.nan}}
    )

    def with_tags(tags: object) -> Callable[[Query], Query]:
        def tagged(query: Query) -> Query:
            return replace(query, attributes={**query.attributes, "tags": tags})

        return tagged

    assert_invariant(fair, golden, with_tags(["x"]))
    assert_invariant(fair, golden, with_tags(np.array([1, 2])))
    with pytest.raises(ConfigurationError, match="changes 0 of 1 query"):
        assert_invariant(fair, golden, with_tags(["x", "y"]))


# --- which rankers receive an attribute --------------------------------------------------------


class Booster:
    feature_name_ = ("price", "gender")

    def predict(self, rows: pd.DataFrame) -> list[float]:
        return [float(value) for value in rows["gender"]]


async def asked_later(query: Query) -> list[str]:
    return ["a"]


def of_queries(queries: list[Query]) -> list[list[str]]:
    return [["a"] for _ in queries]


def score(query: Query, documents: list[str]) -> list[int]:
    return [len(document) for document in documents]


def test_which_rankers_see_an_attribute() -> None:
    for ranker, sees in (
        (fair, True),
        (lambda text: ["a"], False),
        (asked_later, True),
        (batch(of_queries), True),
        (batch(lambda texts: [["a"] for _ in texts]), False),
        (scorer(score), True),
        (scorer(lambda text, documents: [1.0 for _ in documents]), False),
        (embedder(lambda texts: np.ones((len(texts), 2)), {"a": "x"}), False),
        (model(Booster()), True),
        (model(Booster(), features=["price", "age"]), True),
        (http("http://x/?q={query}&g={attributes.gender}", ids="ids"), True),
        (http("http://x/?q={query}&g={attributes.genders}", ids="ids"), False),
        (http("http://x/", body={"{attributes.gender}": ["{query}"]}, ids="ids"), True),
    ):
        assert adapter_of(ranker).sees("gender") is sees, ranker


def test_a_ranker_that_cannot_see_the_change_is_refused() -> None:
    def text_only(text: str) -> list[str]:
        return ["a", "b", "c"]

    message = (
        r"perturbation 'as_tablet' changes device of query 'q1', but ranker .*text_only' does "
        "not receive this, so the check could not fail. Pass it the query: annotate"
    )
    with pytest.raises(ConfigurationError, match=message):
        assert_invariant(text_only, DEVICES, as_tablet)

    def translated(query: Query) -> Query:
        return replace(as_tablet(query), text="rot")

    assert_invariant(text_only, DEVICES, translated)  # it sees the text


# --- invalid input -----------------------------------------------------------------------------


def test_anything_but_a_perturbed_query_is_refused() -> None:
    for perturbation, message in (
        (
            lambda query: replace(query, attributes={}),
            "TypeError: .*; to get the query, annotate its parameter as Query",
        ),
        (lambda text: Query("q9", "x"), "with the same id"),
        (lambda text: Query("q1", 3), "returned Query"),  # type: ignore[arg-type]
        (lambda text: Query("q1", "x", ["device"]), "it must return a text or a Query"),  # type: ignore[arg-type]
        (lambda text: [Query("q1", "x"), None], "returned None for query 'q1'"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            assert_invariant(fair, DEVICES, perturbation)  # type: ignore[arg-type]


def test_foreign_values_are_harmless() -> None:
    def hostile(query: Query) -> Query:
        return replace(query, attributes={"gender": "\x1b[2J" * 30})

    text = failure_of(lambda: assert_invariant(biased, DEVICES.subset(["q1"]), hostile))
    assert "\x1b" not in text
