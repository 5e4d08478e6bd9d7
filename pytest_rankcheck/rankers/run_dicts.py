"""A run given as a dict of rankings, kept as it is if possible, otherwise parsed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import chain
from numbers import Real
from typing import Any

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.plain_values import id_text
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranked_columns import Answer
from pytest_rankcheck.rankers.ranking import RankingRules, Ties
from pytest_rankcheck.rankers.ranking_forms import (
    has_text_ids,
    is_list_of_ids,
    ordinary_pairs,
    ranking_of,
)


def answers_of(
    rankings: Mapping[Any, object], rules: RankingRules, depth: int | None, name: str
) -> Mapping[str, Answer]:
    """Return the answers of ``Run.from_dict``, each in one of the forms of `Answer`."""
    misread = MisreadScores()
    is_plain = depth is None and rules.to_id is None
    kept = _ordinary(rankings, rules.ties, misread) if is_plain else {}
    answers: dict[str, Answer] = kept if len(kept) == len(rankings) else {}
    for given, answer in rankings.items() if len(kept) < len(rankings) else ():
        query_id = id_text(given)
        if query_id is None:
            raise RunError(
                f"a query id of the run is {quoted(repr(given), 60)}; query ids are text or "
                "whole numbers"
            )
        if query_id in answers:
            raise RunError(f"duplicate query '{quoted(query_id)}': given as text and as a number")
        if given in kept:
            answers[query_id] = kept[given]
            continue
        ranking = ranking_of(answer, query_id, rules)
        misread.add(query_id, answer, ranking.doc_ids, ranking.scores)
        answers[query_id] = ranking if depth is None else ranking.top(depth)
    if misread.problem:
        raise RunError(f"run '{quoted(name)}': {misread.problem}")
    return answers


def _ordinary(
    rankings: Mapping[Any, object], ties: Ties, misread: MisreadScores
) -> dict[str, Answer]:
    """Return the answers that are lists of ids, pairs or scores, with text ids, all distinct.

    Args:
        rankings: all answers.
        ties: the rule for ties of dicts.
        misread: the scores are added here.
    """
    answers: dict[str, Answer] = {}
    if "" in rankings or not set(map(type, rankings)) <= {str}:
        return answers
    given = {} if ties == "error" else rankings
    dicts = {each: got for each, got in given.items() if type(got) is dict and got}
    if not _hold_scores(dicts.values()):
        dicts = {each: got for each, got in dicts.items() if _hold_scores([got])}
    for query_id, answer in rankings.items():
        if query_id in dicts:
            answers[query_id] = dicts[query_id]
        elif is_list_of_ids(answer) or (type(answer) in (dict, list, tuple) and not answer):
            answers[query_id] = answer  # type: ignore[assignment]
        elif (paired := ordinary_pairs(answer)) is not None:
            answers[query_id] = dicts[query_id] = paired
    misread.add_dicts(dicts)
    return answers


def _hold_scores(answers: Collection[dict[Any, Any]]) -> bool:
    """Whether dicts are ``{id: score}`` as text and finite numbers.

    If the first score of each is a float, the types of the others are not checked.
    """
    if not all(map(has_text_ids, answers)):
        return False
    scores = list(map(dict.values, answers))
    kinds = set(map(type, map(next, map(iter, scores))))
    try:
        if not all(issubclass(kind, float) for kind in kinds):
            kinds = set(map(type, chain.from_iterable(scores)))
            if not all(issubclass(kind, Real) and not issubclass(kind, bool) for kind in kinds):
                return False
            return all(map(math.isfinite, map(math.fsum, scores)))
        return all(map(math.isfinite, map(sum, scores)))
    except (TypeError, ValueError, OverflowError):
        return False
