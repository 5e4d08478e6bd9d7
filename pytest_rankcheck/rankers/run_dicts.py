"""A run that is given as a dict of rankings, kept as it is where possible, otherwise parsed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any

import numpy as np

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.plain_values import id_text
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranked_columns import Answer
from pytest_rankcheck.rankers.ranking import RankingRules, Ties
from pytest_rankcheck.rankers.ranking_forms import is_list_of_ids, ranking_of


def answers_of(
    rankings: Mapping[Any, object], rules: RankingRules, depth: int | None, name: str
) -> Mapping[str, Answer]:
    """Return the answers of ``Run.from_dict``, each in one of the forms of `Answer`."""
    may_be_kept = depth is None and rules.to_id is None
    misread = MisreadScores()
    answers: dict[str, Answer] = {}
    is_kept = may_be_kept and _need_no_parsing(rankings, rules.ties)
    if is_kept:
        misread.add_as_given(rankings)
    else:
        for given, answer in rankings.items():
            query_id = id_text(given)
            if query_id is None:
                raise RunError(
                    f"a query id of the run is {quoted(repr(given), 60)}; query ids are text or "
                    "whole numbers"
                )
            if query_id in answers:
                raise RunError(
                    f"duplicate query '{quoted(query_id)}': given as text and as a number"
                )
            if may_be_kept and _need_no_parsing({query_id: answer}, rules.ties):
                answers[query_id] = answer  # type: ignore[assignment]
                misread.add_as_given({query_id: answer})
                continue
            ranking = ranking_of(answer, query_id, rules)
            misread.add(query_id, answer, ranking.doc_ids, ranking.scores)
            answers[query_id] = ranking if depth is None else ranking.top(depth)
    if misread.problem:
        raise RunError(f"run '{quoted(name)}': {misread.problem}")
    return rankings if is_kept else answers  # type: ignore[return-value]


def _need_no_parsing(rankings: Mapping[Any, object], ties: Ties) -> bool:
    """Whether no answer of a whole run need be parsed.

    Some calls check all answers at once: lists of distinct text ids; or dicts of finite floats
    whose first and last keys are text. The other keys are checked when judged ids are missing.
    """
    if "" in rankings or not set(map(type, rankings)) <= {str}:
        return False
    answers = rankings.values()
    if set(map(type, answers)) <= {dict}:
        return ties != "error" and _hold_scores(answers)  # type: ignore[arg-type]
    return all(map(is_list_of_ids, answers))


def _hold_scores(answers: Collection[dict[Any, Any]]) -> bool:
    """Whether dicts seem to be ``{id: score}``: an unusual answer would have to be parsed."""
    if not all(answers):
        return False
    ends = chain(map(next, map(iter, answers)), map(next, map(reversed, answers)))
    if not set(map(type, ends)) <= {str}:
        return False
    if any(None in answer or "" in answer for answer in answers):
        return False
    firsts = map(next, map(iter, map(dict.values, answers)))
    try:
        totals = list(map(sum, map(dict.values, answers)))
    except (TypeError, OverflowError):
        return False
    kinds = {*map(type, firsts), *map(type, totals)}
    if not all(issubclass(kind, float) for kind in kinds):
        return False
    return bool(np.isfinite(totals).all())
