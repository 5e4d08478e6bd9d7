"""Answers and failures as plain data give the same rankings as what the ranker returned."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import ConfigurationError, RankerError, RunError
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import QueryAnswer
from pytest_rankcheck.rankers.executor_ranker import sendable
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


def sent(answer: object = None, failure: Exception | None = None) -> QueryAnswer:
    """Return an answer as it arrives from a worker."""
    there = pickle.dumps(sendable(QueryAnswer(Query("q"), answer, failure, 0.5)))
    return pickle.loads(there)  # type: ignore[no-any-return]


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
    assert outcome(sent(answer).answer, rules) == outcome(answer, rules)


def test_other_forms_give_the_same_ranking() -> None:
    for answer in (
        pd.DataFrame({"doc_id": ["b", "a"], "score": [2, 1]}),
        pd.DataFrame({"docno": ["b", "a"]}),
        np.array(["b", "a"]),
        {np.int64(7): np.float32(0.5), "x": 1},
        {1: 0.5, "1": 0.7},
    ):
        for rules in (RankingRules(), RankingRules(duplicates="keep_places")):
            assert outcome(sent(answer).answer, rules) == outcome(answer, rules), answer


def test_anything_but_a_ranking_is_refused_in_the_same_words() -> None:
    for answer in (None, {"a"}, "text", [("a", float("nan"))], {"a": "x"}, [None]):
        with pytest.raises(RunError) as here:
            ranking_of(answer, "q", RankingRules())
        failure = sent(answer).failure
        assert isinstance(failure, RunError)
        assert str(failure) == str(here.value)


def test_failures_keep_their_class_or_their_name_message_and_traceback() -> None:
    for kind in (RunError, RankerError, ConfigurationError):
        own = sent(failure=kind("wrong here")).failure
        assert type(own) is kind
        assert str(own) == "wrong here"
    try:
        raise Unpicklable(3)
    except Unpicklable as raised:
        other = sent(failure=raised).failure
    assert isinstance(other, RankerError)
    assert str(other) == "Unpicklable: bad 3"
    assert "raise Unpicklable(3)" in other.__notes__[0]
