"""Answers and failures as plain data give the same rankings as what the ranker returned."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import ConfigurationError, RankerError, RunError
from pytest_rankcheck.rankers.execution.plain_answers import (
    RemoteError,
    plain_answer,
    plain_failure,
)
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranking import RankingRules
from pytest_rankcheck.rankers.ranking_forms import ScoredDocuments, ranking_of
from tests.worker_rankers import Unpicklable

IDS = st.text(min_size=1, max_size=3) | st.integers(-3, 12)
SCORES = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5)
PAIRS = st.lists(st.tuples(IDS, SCORES), max_size=8)
ANSWERS = st.one_of(
    st.lists(IDS, max_size=8),
    PAIRS,
    st.dictionaries(IDS, SCORES, max_size=8),
    PAIRS.map(lambda pairs: ScoredDocuments([p[0] for p in pairs], [p[1] for p in pairs])),
)


def outcome(answer: object, rules: RankingRules) -> Any:
    """Return everything that a ranking makes of an answer, errors included."""
    misread = MisreadScores()
    try:
        ranking = ranking_of(answer, "q", rules)
    except RunError as error:
        return str(error)
    for query_id in ("q", "r"):
        misread.add(query_id, answer, ranking.doc_ids, ranking.scores)
    return ranking, misread.problem


@given(
    ANSWERS,
    st.sampled_from(["doc_id", "input", "error"]),
    st.sampled_from(["error", "close_gaps", "keep_places"]),
)
def test_a_plain_answer_gives_the_same_ranking(answer: Any, ties: Any, duplicates: Any) -> None:
    rules = RankingRules(ties, duplicates)
    assert outcome(plain_answer(answer, "q").value, rules) == outcome(answer, rules)


@given(ANSWERS)
def test_a_plain_answer_is_the_same_after_json(answer: Any) -> None:
    plain = plain_answer(answer, "q")
    text = json.dumps([plain.form, plain.doc_ids, plain.scores])
    form, doc_ids, scores = json.loads(text)
    assert (
        type(plain)(form, doc_ids, scores).value
        == type(plain)(
            plain.form, list(plain.doc_ids), None if plain.scores is None else list(plain.scores)
        ).value
    )


@pytest.mark.parametrize(
    "answer",
    [
        pd.DataFrame({"doc_id": ["b", "a"], "score": [2, 1]}),
        pd.DataFrame({"docno": ["b", "a"]}),
        pd.Series(["b", "a"]),
        np.array(["b", "a"]),
        {np.int64(7): np.float32(0.5), "x": 1},
        {1: 0.5, "1": 0.7},
    ],
    ids=["frame", "ids in a frame", "series", "array", "numpy", "one id twice"],
)
@pytest.mark.parametrize("duplicates", ["error", "keep_places"])
def test_other_forms_give_the_same_ranking(answer: Any, duplicates: Any) -> None:
    rules = RankingRules(duplicates=duplicates)
    assert outcome(plain_answer(answer, "q").value, rules) == outcome(answer, rules)


@pytest.mark.parametrize("answer", [None, {"a"}, "text", [("a", float("nan"))], {"a": "x"}, [None]])
def test_anything_but_a_ranking_is_refused_in_the_same_words(answer: object) -> None:
    with pytest.raises(RunError) as here:
        ranking_of(answer, "q", RankingRules())
    with pytest.raises(RunError) as there:
        plain_answer(answer, "q")
    assert str(there.value) == str(here.value)


@pytest.mark.parametrize("kind", [RunError, RankerError, ConfigurationError])
def test_our_own_errors_keep_their_class(kind: type[Exception]) -> None:
    error = plain_failure(kind("wrong here")).error
    assert type(error) is kind
    assert str(error) == "wrong here"


def test_any_other_error_keeps_its_name_message_and_traceback() -> None:
    try:
        raise Unpicklable(3)
    except Unpicklable as raised:
        error = plain_failure(raised).error
    assert isinstance(error, RemoteError)
    assert (error.kind, error.message) == ("Unpicklable", "bad 3")
    assert "raise Unpicklable(3)" in str(error)
    assert plain_failure(error).error.args == error.args  # it may be sent on


def test_an_error_that_cannot_be_shown_is_still_sent() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise ValueError("no text")

    failure = plain_failure(Silent())
    assert failure.kind == "Silent"
    assert failure.message == "(its message cannot be shown)"
