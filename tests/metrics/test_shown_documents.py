"""Metrics of the documents in each top k, by hand.

Of four users who have interacted with something, all know a, two know b, one knows c.
"""

import math

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, MetricError, Run, evaluate

INTERACTIONS = pd.DataFrame(
    [("u1", "a"), ("u1", "a"), ("u1", "b"), ("u2", "a"), ("u2", "b"), ("u3", "a"), ("u4", "a")]
    + [("u4", "c")],
    columns=["user", "item"],
)
RANKINGS = {"u1": ["a", "b", "c"], "u2": ["c", "new"], "u3": [], "u5": ["a"]}
BRANDS = {"a": "x", "b": "x", "c": "y", "new": None}
VECTORS = {"a": [1.0, 0.0], "b": [2.0, 2.0], "c": [0.0, -3.0], "new": None}
DOCUMENTS = pd.DataFrame(
    {"doc_id": list(BRANDS), "brand": list(BRANDS.values()), "vector": list(VECTORS.values())}
)
GOLDEN = GoldenSet.from_dict(
    {user: {} for user in RANKINGS}, documents=DOCUMENTS, interactions=INTERACTIONS
)
EVALUATION = evaluate(Run.from_dict(RANKINGS), GOLDEN)


def test_by_hand() -> None:
    for name, values in (
        # -log2 of 4/4, 2/4, 1/4; a document that nobody knows counts as known to one user.
        ("Novelty", [(0 + 1 + 2) / 3, (2 + 2) / 2, math.nan, 0]),
        ("Novelty@1", [0, 2, math.nan, 0]),
        ("AvgPopularity", [(4 + 2 + 1) / 3, (1 + 0) / 2, math.nan, 4]),
        ("AvgPopularity@2", [3, 0.5, math.nan, 4]),
        # Of four users, 4 and 2 know the first two; 1 and 0.
        # u1 knows a and b; u2 knows neither; u5 has no history.
        ("SeenItems", [2 / 3, 0, 0, 0]),
        ("SeenItems@1", [1, 0, 0, 0]),
        # a and b are equal, a and c differ, b and c differ; the brand of new is unknown.
        ("ILD(by=brand)", [2 / 3, 0, 0, 0]),
        ("ILD(by=brand)@2", [0, 0, 0, 0]),
        # 1 - cosine: a and b 45 degrees, a and c 90, b and c 135.
        ("ILD(by=vector)", [(1 - math.sqrt(0.5) + 1 + 1 + math.sqrt(0.5)) / 3, 0, 0, 0]),
        ("ILD(by=vector)@2", [1 - math.sqrt(0.5), 0, 0, 0]),
        # b has the brand of a, c has not; the brand of new is unknown, and no other's.
        ("Duplicates(by=brand)", [1 / 3, 0, 0, 0]),
        ("Duplicates(by=brand)@2", [1 / 2, 0, 0, 0]),
    ):
        found = EVALUATION.per_query(name).tolist()
        assert found == pytest.approx(values, abs=1e-12, nan_ok=True)


def test_a_document_that_is_shown_twice_counts_once() -> None:
    run = Run.from_dict({"u1": ["a", "a", "b", "c"]}, duplicates="keep_places")
    golden = GoldenSet.from_dict({"u1": {}}, interactions=INTERACTIONS)
    assert evaluate(run, golden).mean("Novelty@3") == (0 + 1) / 2


ANSWERS = {"q1": ["a", "b", "a", "a", "c"], "q2": ["b", "new", "c", "new"], "q3": ["b"], "q4": []}
AGAIN = evaluate(
    Run.from_dict(ANSWERS, duplicates="keep_places"),
    GoldenSet.from_dict({query: {} for query in ANSWERS}, documents=DOCUMENTS),
)


def test_the_same_document_again_in_an_answer() -> None:
    for name, values in (
        # q1 has a three times, at 1, 3 and 4; q2 has new twice, at 2 and 4.
        ("Duplicates@5", [2 / 5, 1 / 4, 0, 0]),
        ("Duplicates", [2 / 5, 1 / 4, 0, 0]),
        ("Duplicates@3", [1 / 3, 0, 0, 0]),
        ("Duplicates@1", [0, 0, 0, 0]),
        # The brand of a is at 1, of b at 2: 2, 3 and 4 repeat it. That of new is unknown.
        ("Duplicates(by=brand)@5", [3 / 5, 1 / 4, 0, 0]),
        ("Duplicates(by=brand)@2", [1 / 2, 0, 0, 0]),
    ):
        assert AGAIN.values(name).tolist() == pytest.approx(values, abs=1e-12)
        assert not AGAIN.computed[-1].definition.higher_is_better


def test_chunks_that_are_mapped_to_their_source_repeat_it() -> None:
    chunks = {"q1": ["s#1", "s#4", "t#2", "s#9"]}
    golden = GoldenSet.from_dict({"q1": {"s": 1}}, doc_id="before:#")
    run = Run.from_dict(chunks, doc_id="before:#", duplicates="keep_places")
    assert evaluate(run, golden).mean("Duplicates@4") == 2 / 4


@pytest.mark.parametrize("duplicates", ["error", "close_gaps"])
def test_repeats_are_not_counted_where_there_can_be_none(duplicates: str) -> None:
    golden = GoldenSet.from_dict({"u1": {}}, documents=DOCUMENTS)
    evaluation = evaluate(Run.from_dict({"u1": ["a", "b"]}, duplicates=duplicates), golden)
    with pytest.raises(MetricError, match=rf"is 0 whatever .* duplicates={duplicates} leaves no"):
        evaluation.mean("Duplicates@2")
    assert evaluation.mean("Duplicates(by=brand)@2") == 1 / 2


@pytest.mark.parametrize("value", ["text", [1.0, math.nan], [1.0], [0.0, 0.0], [1.0, "x"]])
def test_vectors_that_cannot_be_compared_are_refused(value: object) -> None:
    frame = DOCUMENTS.assign(vector=[[1.0, 0.0], [2.0, 2.0], value, None])
    golden = GoldenSet.from_dict({"u1": {}}, documents=frame)
    evaluation = evaluate(Run.from_dict({"u1": ["a", "b", "c"]}), golden)
    with pytest.raises(MetricError, match=r"ILD\(by=vector\): a vector is .*; give each document"):
        evaluation.mean("ILD(by=vector)")


def test_a_vector_that_became_a_text_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    DOCUMENTS.dropna().to_csv(tmp_path / "documents.csv", index=False)
    golden = GoldenSet.from_dict({"u1": {}}, documents=tmp_path / "documents.csv")
    with pytest.raises(
        MetricError, match=r"is the text '\[1.0, 0.0\]'; give vectors as JSON lines"
    ):
        evaluate(Run.from_dict({"u1": ["a", "b"]}), golden).mean("ILD(by=vector)")


def test_queries_without_a_history_are_counted() -> None:
    evaluation = evaluate(Run.from_dict(RANKINGS), GOLDEN)
    evaluation.mean("SeenItems@2")
    text = "1 of 4 queries not among the users of the interactions: u5"
    assert evaluation.source.document_notes == {text: True}
    assert text in evaluation.notes


def test_queries_that_are_no_users_are_refused() -> None:
    golden = GoldenSet.from_dict({"q1": {}}, interactions=INTERACTIONS)
    with pytest.raises(MetricError, match=r"no query of golden set .* is a user of"):
        evaluate(Run.from_dict({"q1": ["a"]}), golden).mean("SeenItems@5")


def test_counts_are_of_users_and_items_that_numbers_spell_too() -> None:
    numbers = INTERACTIONS.assign(item=INTERACTIONS["item"].map({"a": 1, "b": 2, "c": 3}))
    golden = GoldenSet.from_dict({"u1": {}}, interactions=numbers)
    evaluation = evaluate(Run.from_dict({"u1": ["1", "2", "3"]}), golden)
    assert np.array_equal(evaluation.values("AvgPopularity"), [(4 + 2 + 1) / 3])
