"""The answers of a run given as a dict: kept as they are where possible, otherwise parsed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any

import numpy as np

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.rankers.held_rankings import Answer
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranking import RankingRules, Ties
from pytest_rankcheck.rankers.ranking_forms import (
    given_twice,
    is_list_of_ids,
    query_id_of,
    ranking_of,
)

__all__ = ["answers_of"]


def answers_of(
    rankings: Mapping[Any, object], rules: RankingRules, depth: int | None, name: str
) -> dict[str, Answer]:
    """Return the answers of ``{query_id: ranking}``, each in one of the forms of `Answer`.

    Args:
        rankings: as in ``Run.from_dict``.
        rules: how rankings are ordered, and their ids mapped.
        depth: how many documents of each count; None: all.
        name: what messages call the run.

    Raises:
        RunError: as in ``Run.from_dict``.
    """
    may_be_kept = depth is None and rules.to_id is None
    misread = MisreadScores()
    answers = _as_given(rankings, rules.ties) if may_be_kept else None
    if answers is not None:
        misread.add_as_given(answers)
    else:
        answers = {}
        for given, answer in rankings.items():
            query_id = query_id_of(given)
            if query_id in answers:
                raise given_twice(query_id)
            kept = _as_given({query_id: answer}, rules.ties) if may_be_kept else None
            if kept is not None:
                answers |= kept
                misread.add_as_given(kept)
                continue
            ranking = ranking_of(answer, query_id, rules)
            misread.add(query_id, answer, ranking.doc_ids, ranking.scores)
            answers[query_id] = ranking if depth is None else ranking.top(depth)
    if misread.problem:
        raise RunError(f"run '{quoted(name)}': {misread.problem}")
    return answers


def _as_given(rankings: Mapping[Any, object], ties: Ties) -> dict[str, Answer] | None:
    """Return the answers of a whole run if none of them need be parsed; otherwise None.

    Some calls check all answers at once: lists of distinct text ids; or dicts of finite floats
    whose first and last keys are text. The other keys are checked when judged ids are missing.
    """
    if "" in rankings or not set(map(type, rankings)) <= {str}:
        return None
    answers = rankings.values()
    if set(map(type, answers)) <= {dict}:
        is_given = ties != "error" and _hold_scores(answers)  # type: ignore[arg-type]
    else:
        is_given = all(map(is_list_of_ids, answers))
    return dict(rankings) if is_given else None


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
    return all(issubclass(kind, float) for kind in kinds) and bool(np.isfinite(totals).all())
