"""Propensities: how likely a user looked at each rank, used to correct the position bias of a log.

Users select results that they look at and find good. They look at results further down less often,
so these are selected less often than they deserve. Each selection is weighted by one over the
propensity of its rank (inverse propensity scoring: Joachims, Swaminathan and Schnabel, Unbiased
learning-to-rank with biased feedback, WSDM 2017, section 4). Means are self-normalised (Swaminathan
and Joachims, The self-normalized estimator for counterfactual learning, NIPS 2015), and weights are
clipped (Strehl, Langford, Li and Kakade, Learning from logged implicit exploration data, NIPS
2010).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from pytest_rankcheck.argument_checks import is_number
from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.files.plain_values import finite_number

Propensity = str | Mapping[int, float] | Sequence[float]
"""``"power(eta)"``, a table ``{rank: propensity}``, or the propensities from rank 1 on."""

CLIP = 0.05
"""Smaller propensities are raised to this, so no selection weighs more than 20."""

_POWER = re.compile(r"power\(\s*([0-9.eE+-]+)\s*\)")
_LONGEST = 160
"""A longer text of a table is replaced by its digest."""


def propensities_of(ranks: IntArray, propensity: Propensity) -> FloatArray:
    """Return the propensity of each of these ranks, ``[K]``.

    Raises:
        ConfigurationError: the propensity is invalid, or the table lacks a rank.
    """
    if isinstance(propensity, str):
        return np.asarray(ranks.astype(np.float64) ** -_exponent(propensity))
    table = _table(propensity)
    absent = sorted(set(ranks.tolist()) - set(table))
    if absent:
        raise ConfigurationError(
            f"the table of propensities lacks rank {absent[0]}, which occurs in the log; "
            "add it, or cut the log"
        )
    return np.array([table[rank] for rank in ranks.tolist()], dtype=np.float64)


def propensity_text(propensity: Propensity) -> str:
    """Return a propensity as records and messages show it; the same for the same numbers.

    Raises:
        ConfigurationError: the propensity is invalid.
    """
    if isinstance(propensity, str):
        return f"power({_exponent(propensity):g})"
    table = _table(propensity)
    text = f"{{{', '.join(f'{rank}: {table[rank]:.6g}' for rank in sorted(table))}}}"
    if len(text) <= _LONGEST:
        return text
    import hashlib  # loads OpenSSL, so only when needed

    digest = hashlib.sha256(text.encode("ascii")).hexdigest()[:8]
    return f"a table of {len(table)} ranks ({digest})"


def _exponent(propensity: str) -> float:
    """Return eta of ``power(eta)``."""
    match = _POWER.fullmatch(propensity.strip())
    exponent = finite_number(match[1]) if match else None
    if exponent is None or exponent < 0:
        raise _invalid(propensity)
    return exponent


def _invalid(propensity: object) -> ConfigurationError:
    return ConfigurationError(
        f"propensity={quoted(repr(propensity), 60)} is invalid; give power(1), power(0.5), ..., a "
        "table {rank: propensity}, or the propensities from rank 1 on"
    )


def _table(propensity: Mapping[int, float] | Sequence[float]) -> Mapping[int, float]:
    if not isinstance(propensity, (Mapping, Sequence)):
        raise _invalid(propensity)
    rows = propensity.items() if isinstance(propensity, Mapping) else enumerate(propensity, start=1)
    table = dict(rows)
    for rank, chance in table.items():
        if not (is_number(chance) and 0 < chance <= 1):
            raise ConfigurationError(
                f"the propensity of rank {quoted(rank)} is {quoted(chance)}; it must be above 0 "
                "and at most 1"
            )
    return {rank: float(chance) for rank, chance in table.items()}
