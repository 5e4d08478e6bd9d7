"""Estimates of relevance for every document that a log showed, selected or not.

At rank k a document of relevance r is selected with the probability alpha_k r + beta_k, so
(c - beta_k) / alpha_k is an unbiased estimate of r, where c is 1 if it was selected and 0 if not
(Vardasbi, Oosterhuis and de Rijke, When inverse propensity scoring does not work, CIKM 2020). It
can be negative or above 1. With a model of relevance m the estimate is doubly robust (Oosterhuis,
Doubly robust estimation for correcting position bias in click feedback for unbiased learning to
rank, TOIS 41, 2023, here for one ranking per search):

    m + (c - beta_k - alpha_k m) / max(alpha_k, clip)

If alpha_k is at least ``clip``, m cancels: the estimate is unbiased, whatever the model. Otherwise
the model stands for what clipping gives up: the estimate is also unbiased if the model is right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import ConfigurationError, SessionLogError, quoted
from pytest_rankcheck.sessions.replays.propensity import Propensity, chances_of

__all__ = ["Impression", "estimated_grades"]


@dataclass(frozen=True, slots=True)
class Impression:
    """One list that was shown."""

    query: str | None
    shown: Sequence[str]
    """The documents, best first."""
    selected: Sequence[int]
    """The ranks of the selected ones, from 1."""


def estimated_grades(
    impressions: Sequence[Impression],
    propensity: Propensity,
    clip: float,
    model: Callable[[str, Sequence[str]], Sequence[float]] | None = None,
) -> Sequence[dict[str, float]]:
    """Return the estimated relevance of each document that was shown, for each list.

    The estimates are divided by their mean sum per list, so a mean over all lists of a sum over
    their documents is a mean over the relevant documents, as that of weighted selections is
    (self-normalised).

    Args:
        impressions: the lists, with and without selections.
        propensity: alpha and beta of each rank.
        clip: a smaller alpha counts as this.
        model: given a query and documents, how likely each is relevant, in [0, 1].

    Raises:
        SessionLogError: the estimates add up to nothing: there are too few selections.
        ConfigurationError: the propensity is invalid, or the model returned something else.
    """
    longest = max(len(each.shown) for each in impressions)
    alpha, beta = chances_of(np.arange(1, longest + 1), propensity)
    divisor = np.maximum(alpha, clip)
    estimates = []
    for each in impressions:
        size = len(each.shown)
        selected = np.zeros(size)
        selected[np.asarray(each.selected, dtype=np.intp) - 1] = 1.0
        expected = np.zeros(size) if model is None else _modelled(model, each)
        kept = 1 - alpha[:size] / divisor[:size]  # 0 where nothing is clipped
        estimates.append(expected * kept + (selected - beta[:size]) / divisor[:size])
    total = float(sum(one.sum() for one in estimates)) / len(impressions)
    if total <= 0:
        raise SessionLogError(
            "there are fewer selections than the betas of the propensity explain, so nothing is "
            "known of relevance; check the propensity, or replay a longer log"
        )
    return [
        _by_document(each.shown, estimate / total)
        for each, estimate in zip(impressions, estimates, strict=True)
    ]


def _by_document(shown: Sequence[str], estimates: FloatArray) -> dict[str, float]:
    """Return the estimate of each document; that of its first place, if it was shown twice."""
    pairs = zip(reversed(shown), reversed(estimates.tolist()), strict=True)
    return dict(reversed(list(dict(pairs).items())))


def _modelled(
    model: Callable[[str, Sequence[str]], Sequence[float]], impression: Impression
) -> FloatArray:
    """Return what the model says of the documents of a list.

    Raises:
        ConfigurationError: it is not a probability for each.
    """
    query = impression.query or ""
    answer = model(query, list(impression.shown))
    try:
        chances = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        chances = np.empty(0)
    if chances.shape != (len(impression.shown),) or not ((chances >= 0) & (chances <= 1)).all():
        raise ConfigurationError(
            f"relevance= returned {quoted(repr(answer), 80)} for the query "
            f"'{quoted(query)}' and {len(impression.shown):,} documents; return one probability "
            "from 0 to 1 for each document"
        )
    return chances
