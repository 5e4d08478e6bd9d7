"""Propensities: how likely a user looked at each rank, used to correct the position bias of a log.

Users select results that they look at and find good. Results further down are looked at less often,
so they are selected less often than they deserve. Each selection is weighted by one over the
propensity of its rank (inverse propensity scoring: Joachims, Swaminathan and Schnabel, Unbiased
learning-to-rank with biased feedback, WSDM 2017, section 4). Means are self-normalised (Swaminathan
and Joachims, The self-normalized estimator for counterfactual learning, NIPS 2015), and weights are
clipped
(Strehl, Langford, Li and Kakade, Learning from logged implicit exploration data, NIPS 2010).

Users who trust a ranker also select what is not good, more often at the top. Then the probability
of a selection at rank k is alpha_k r + beta_k, with the relevance r of the document (Vardasbi,
Oosterhuis and de Rijke, When inverse propensity scoring does not work: affine corrections for
unbiased learning to rank, CIKM 2020).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TypeGuard

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, quoted

__all__ = [
    "CLIP",
    "Chance",
    "Propensity",
    "chances_of",
    "checked_clip",
    "is_affine",
    "propensity_text",
    "propensity_weights",
]

Chance = float | tuple[float, float]
"""The propensity of a rank, or its (alpha, beta)."""
Propensity = str | Mapping[int, Chance] | Sequence[Chance]
"""``"power(eta)"``, a table ``{rank: propensity}``, or the propensities from rank 1 on.

In a table, ``(alpha, beta)`` instead of a propensity is the chance of a selection: alpha times the
relevance, plus beta.
"""

CLIP = 0.05
"""Smaller propensities are raised to this, so no selection weighs more than 20."""

_POWER = re.compile(r"power\(\s*([0-9.eE+-]+)\s*\)")
_LONGEST = 160
"""A longer text of a table is given by its digest."""


def propensity_weights(ranks: IntArray, propensity: Propensity, clip: float = CLIP) -> FloatArray:
    """Return the weight of each selection, ``[K]``.

    Args:
        ranks: ``[K]`` the 1-based ranks of the selections.
        propensity: the probability that a rank is looked at: ``"power(eta)"`` is rank ** -eta; or
            a table.
        clip: smaller propensities are raised to this, in (0, 1].

    Raises:
        ConfigurationError: the propensity or ``clip`` is invalid, or the table lacks a rank.
    """
    chances, _ = chances_of(ranks, propensity)
    weights: FloatArray = 1.0 / np.maximum(chances, checked_clip(clip))
    return weights


def checked_clip(clip: object) -> float:
    """Return the smallest propensity that counts.

    Raises:
        ConfigurationError: it is not a number above 0 and at most 1.
    """
    if not _is_number(clip) or not 0 < clip <= 1:
        raise ConfigurationError(
            f"clip={quoted(clip)} is invalid; give the smallest propensity, above 0 and at most 1"
        )
    return float(clip)


def chances_of(ranks: IntArray, propensity: Propensity) -> tuple[FloatArray, FloatArray]:
    """Return alpha and beta at each of these ranks, ``[K]`` each; beta is 0 unless it is given.

    Raises:
        ConfigurationError: the propensity is invalid, or the table lacks a rank.
    """
    if isinstance(propensity, str):
        chances: FloatArray = ranks.astype(np.float64) ** -_exponent(propensity)
        return chances, np.zeros_like(chances)
    table = _table(propensity)
    absent = sorted(set(ranks.tolist()) - set(table))
    if absent:
        raise ConfigurationError(
            f"the table of propensities lacks rank {absent[0]}, which occurs in the log; "
            "add it, or cut the log"
        )
    both = np.array([table[rank] for rank in ranks.tolist()], dtype=np.float64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def is_affine(propensity: Propensity | None) -> bool:
    """Return whether documents that are not good are selected, too: a beta is above 0."""
    if propensity is None or isinstance(propensity, str):
        return False
    return any(beta > 0 for _, beta in _table(propensity).values())


def propensity_text(propensity: Propensity) -> str:
    """Return a propensity as records and messages show it; the same for the same numbers.

    Raises:
        ConfigurationError: the propensity is invalid.
    """
    if isinstance(propensity, str):
        return f"power({_exponent(propensity):g})"
    shown = {
        rank: f"{alpha:.6g}" if not beta else f"({alpha:.6g}, {beta:.6g})"
        for rank, (alpha, beta) in sorted(_table(propensity).items())
    }
    text = f"{{{', '.join(f'{rank}: {chance}' for rank, chance in shown.items())}}}"
    if len(text) <= _LONGEST:
        return text
    import hashlib  # loads OpenSSL, so only when needed

    digest = hashlib.sha256(text.encode("ascii")).hexdigest()[:8]
    return f"a table of {len(shown)} ranks ({digest})"


def _exponent(propensity: str) -> float:
    """Return eta of ``power(eta)``.

    Raises:
        ConfigurationError: the text is something else.
    """
    match = _POWER.fullmatch(propensity.strip())
    try:
        exponent = float(match[1]) if match else math.nan
    except ValueError:
        exponent = math.nan
    if not (math.isfinite(exponent) and exponent >= 0):
        raise ConfigurationError(
            f"propensity='{quoted(propensity)}' is invalid; give power(1), power(0.5), ..., a "
            "table {rank: propensity}, or the propensities from rank 1 on"
        )
    return exponent


def _table(
    propensity: Mapping[int, Chance] | Sequence[Chance],
) -> Mapping[int, tuple[float, float]]:
    """Return alpha and beta of each rank in a table.

    Raises:
        ConfigurationError: a value is not a probability.
    """
    if not isinstance(propensity, (Mapping, Sequence)):
        raise ConfigurationError(
            f"propensity={quoted(repr(propensity), 60)} is invalid; give power(1), a table "
            "{rank: propensity}, or the propensities from rank 1 on"
        )
    rows = propensity.items() if isinstance(propensity, Mapping) else enumerate(propensity, start=1)
    return {rank: _alpha_beta(rank, chance) for rank, chance in rows}


def _alpha_beta(rank: int, chance: object) -> tuple[float, float]:
    alpha, beta = chance if isinstance(chance, tuple) and len(chance) == 2 else (chance, 0.0)
    if not _is_number(alpha) or not 0 < alpha <= 1:
        raise ConfigurationError(
            f"the propensity of rank {quoted(rank)} is {quoted(chance)}; it must be above 0 "
            "and at most 1"
        )
    if not _is_number(beta) or not 0 <= beta <= 1 + 1e-9 - alpha:
        raise ConfigurationError(
            f"the propensity of rank {quoted(rank)} is {quoted(chance)}; (alpha, beta) must be "
            "probabilities of a selection: beta at least 0, and alpha + beta at most 1"
        )
    return float(alpha), float(beta)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)
