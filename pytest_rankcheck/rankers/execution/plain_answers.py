"""Answers and failures of a ranker as plain data, to send or store.

A ranker may answer with anything that has an order, and raise anything. The plain form gives the
same ranking as the ranker's own answer, also after it was sent or stored.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pytest_rankcheck.errors import ConfigurationError, RankerError, RunError
from pytest_rankcheck.rankers.ranking_forms import (
    ScoredDocuments,
    ids_of,
    is_list_of_ids,
    numbers_of,
    ranking_as_given,
)

__all__ = ["FORMS", "PlainAnswer", "PlainFailure", "RemoteError", "plain_answer", "plain_failure"]

Form = Literal["list", "scores"]
FORMS: Sequence[str] = get_args(Form)

_OWN = (RunError, RankerError, ConfigurationError)
_LONGEST_MESSAGE = 10_000
_LONGEST_TRACEBACK = 50_000


@dataclass(frozen=True, slots=True)
class PlainAnswer:
    """An answer: its documents as text, and their scores, if any."""

    form: Form
    """``"list"``: best first; ``"scores"``: to be sorted by score."""
    doc_ids: Sequence[str]
    scores: Sequence[float] | None = None

    @property
    def value(self) -> object:
        """The answer in a form that a ranker can return."""
        if self.form == "list":
            if self.scores is None:
                return list(self.doc_ids)
            return list(zip(self.doc_ids, self.scores, strict=True))
        assert self.scores is not None
        if len(set(self.doc_ids)) < len(self.doc_ids):  # duplicates, which a dict would drop
            return ScoredDocuments(self.doc_ids, self.scores)
        return dict(zip(self.doc_ids, self.scores, strict=True))


def plain_answer(answer: object, query_id: str) -> PlainAnswer:
    """Return an answer as plain data, without resolving ties or duplicates, or cutting it.

    Raises:
        RunError: the answer is not a ranking, or an id or score is invalid.
    """
    if is_list_of_ids(answer):
        return PlainAnswer("list", tuple(answer))
    if isinstance(answer, Mapping):
        answer = ScoredDocuments(tuple(answer), tuple(answer.values()))
    if isinstance(answer, ScoredDocuments):
        doc_ids = ids_of(answer.doc_ids, query_id)
        return PlainAnswer("scores", doc_ids, numbers_of(answer.scores, doc_ids, query_id, "score"))
    ranking = ranking_as_given(answer, query_id)
    return PlainAnswer("list", ranking.doc_ids, ranking.scores)


class RemoteError(Exception):
    """An exception from a worker, as text, because its class may not be picklable or known here."""

    def __init__(self, kind: str, message: str, traceback: str = "") -> None:
        super().__init__(kind, message, traceback)
        self.kind = kind
        """The name of the exception's class."""
        self.message = message
        self.traceback = traceback
        """The traceback on the worker."""

    def __str__(self) -> str:
        said = f"{self.kind}: {self.message}" if self.message else self.kind
        return f"{said}\n\non the worker:\n{self.traceback}" if self.traceback else said


@dataclass(frozen=True, slots=True)
class PlainFailure:
    """Why a query failed, as text."""

    kind: str
    message: str
    traceback: str = ""

    @property
    def error(self) -> Exception:
        """The failure as an exception: one of our classes, or else a `RemoteError`."""
        for own in _OWN:
            if self.kind == own.__name__:
                return own(self.message)
        return RemoteError(self.kind, self.message, self.traceback)


def plain_failure(error: BaseException) -> PlainFailure:
    """Return an exception as text, even if its own methods raise."""
    if isinstance(error, RemoteError):
        return PlainFailure(error.kind, error.message, error.traceback)
    try:
        message = str(error)
    except Exception:
        message = "(its message cannot be shown)"
    try:
        trace = "".join(traceback.format_exception(error))
    except Exception:
        trace = ""
    ours = (own for own in _OWN if isinstance(error, own))
    kind: type[BaseException] = next(ours, type(error))
    return PlainFailure(kind.__name__, message[:_LONGEST_MESSAGE], trace[-_LONGEST_TRACEBACK:])
