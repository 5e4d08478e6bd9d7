"""How likely it was that a user looked at a result, by its rank: the bias of a log, corrected.

A user selects what he looks at and finds good. What stood further down was looked at less, so its
selections are rarer than it deserves. Each selection is weighted by one over the propensity of its
rank (inverse propensity scoring: Joachims, Swaminathan and Schnabel, Unbiased learning-to-rank with
biased feedback, WSDM 2017, section 4). Means are self-normalised (Swaminathan and Joachims, The
self-normalized estimator for counterfactual learning, NIPS 2015), and weights are clipped
(Strehl, Langford, Li and Kakade, Learning from logged implicit exploration data, NIPS 2010).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.statistics.array_types import FloatArray, IntArray

__all__ = ["CLIP", "Propensity", "weights_of"]

Propensity = str | Mapping[int, float] | Sequence[float]
"""``"power(eta)"``, a table ``{rank: propensity}``, or the propensities from rank 1 on."""

CLIP = 0.05
"""A propensity below this counts as this: no selection weighs more than 20."""

_POWER = re.compile(r"power\(\s*([0-9.eE+-]+)\s*\)")


def weights_of(ranks: IntArray, propensity: Propensity, clip: float = CLIP) -> FloatArray:
    """Return how much each selection weighs, ``[K]``.

    Args:
        ranks: ``[K]`` the 1-based ranks at which it was shown.
        propensity: how likely a rank was looked at: ``"power(eta)"`` is rank ** -eta; or a table.
        clip: a propensity below this counts as this.

    Raises:
        ConfigurationError: it is no propensity, or lacks a rank that occurs.
    """
    if isinstance(clip, bool) or not isinstance(clip, Real) or not 0 < clip <= 1:
        raise ConfigurationError(
            f"clip={quoted(clip)} is not possible; it is the least propensity, above 0, at most 1"
        )
    if isinstance(propensity, str):
        found = _POWER.fullmatch(propensity.strip())
        exponent = _exponent(found[1]) if found else None
        if exponent is None:
            raise ConfigurationError(
                f"propensity='{quoted(propensity)}' is not possible; it is power(1), power(0.5), "
                "..., a table {rank: propensity}, or the propensities from rank 1 on"
            )
        chances = ranks.astype(np.float64) ** -exponent
    else:
        chances = _from_table(ranks, propensity)
    weights: FloatArray = 1.0 / np.maximum(chances, float(clip))
    return weights


def _exponent(text: str) -> float | None:
    try:
        exponent = float(text)
    except ValueError:
        return None
    return exponent if math.isfinite(exponent) and exponent >= 0 else None


def _from_table(ranks: IntArray, propensity: Mapping[int, float] | Sequence[float]) -> FloatArray:
    table = (
        dict(propensity)
        if isinstance(propensity, Mapping)
        else dict(enumerate(propensity, start=1))
    )
    for rank, chance in table.items():
        if isinstance(chance, bool) or not isinstance(chance, Real) or not 0 < chance <= 1:
            raise ConfigurationError(
                f"the propensity of rank {quoted(rank)} is {quoted(chance)}; it is above 0 and at "
                "most 1"
            )
    absent = sorted(set(ranks.tolist()) - set(table))
    if absent:
        raise ConfigurationError(
            f"the table of propensities has no rank {absent[0]}, at which something was selected; "
            "add it, or cut the log"
        )
    return np.array([float(table[rank]) for rank in ranks.tolist()], dtype=np.float64)
