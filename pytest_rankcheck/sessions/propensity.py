"""Propensities: how likely a user looked at each rank, used to correct the position bias of a log.

Users select results that they look at and find good. Results further down are looked at less often,
so they are selected less often than they deserve. Each selection is weighted by one over the
propensity of its rank (inverse propensity scoring: Joachims, Swaminathan and Schnabel, Unbiased
learning-to-rank with biased feedback, WSDM 2017, section 4). Means are self-normalised (Swaminathan
and Joachims, The self-normalized estimator for counterfactual learning, NIPS 2015), and weights are
clipped
(Strehl, Langford, Li and Kakade, Learning from logged implicit exploration data, NIPS 2010).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, quoted

__all__ = ["CLIP", "Propensity", "propensity_weights"]

Propensity = str | Mapping[int, float] | Sequence[float]
"""``"power(eta)"``, a table ``{rank: propensity}``, or the propensities from rank 1 on."""

CLIP = 0.05
"""Smaller propensities are raised to this, so no selection weighs more than 20."""

_POWER = re.compile(r"power\(\s*([0-9.eE+-]+)\s*\)")


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
    if isinstance(clip, bool) or not isinstance(clip, Real) or not 0 < clip <= 1:
        raise ConfigurationError(
            f"clip={quoted(clip)} is invalid; give the smallest propensity, above 0 and at most 1"
        )
    if isinstance(propensity, str):
        match = _POWER.fullmatch(propensity.strip())
        exponent = _exponent(match[1]) if match else None
        if exponent is None:
            raise ConfigurationError(
                f"propensity='{quoted(propensity)}' is invalid; give power(1), power(0.5), ..., a "
                "table {rank: propensity}, or the propensities from rank 1 on"
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
                f"the propensity of rank {quoted(rank)} is {quoted(chance)}; it must be above 0 "
                "and at most 1"
            )
    absent = sorted(set(ranks.tolist()) - set(table))
    if absent:
        raise ConfigurationError(
            f"the table of propensities lacks rank {absent[0]}, where the log has a selection; "
            "add it, or cut the log"
        )
    return np.array([float(table[rank]) for rank in ranks.tolist()], dtype=np.float64)
