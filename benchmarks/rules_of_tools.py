"""The documented rules of other regression gates, to apply to the same pairs.

Each decides whether a pull request is blocked, with the defaults that its documentation gives. They
know scores where higher is better, so durations are left out.

- rag-ci 0.7.1, https://pypi.org/project/rag-ci/, "A two-condition gate": the fall is larger than
  ``min-effect`` (0.02) and the share of bootstrap resamples whose mean did not fall is below 5%.
- toolkit-rag-quality, https://github.com/AKIVA-AI/toolkit-rag-quality, README, "Budgets" and
  "``--alpha``": the mean falls by more than 2% of the baseline; with ``--alpha 0.05`` the two-sided
  randomization test must reject as well.
- retrieval-eval-gate 0.2.1, https://pypi.org/project/retrieval-eval-gate/, "Four gate policies",
  ``regression``: the mean fell and the two-sided paired randomization test rejects at 5%. Its other
  policies compare with a fixed floor, not with a baseline.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.statistics.sign_flip import sign_flip_test

ALPHA = 0.05
MIN_EFFECT = 0.02
BUDGET = 0.02
RESAMPLES = 1000
"""The tool draws 10,000; a tenth of them moves the rates of the table by less than its error."""


def rag_ci(pairs: Paired) -> bool:
    """Return whether rag-ci blocks."""
    gains = pairs.gains
    if gains.mean() >= -MIN_EFFECT:
        return False
    drawn = np.random.default_rng(0).integers(0, len(gains), (RESAMPLES, len(gains)))
    return float((gains[drawn].mean(axis=1) >= 0).mean()) < ALPHA


def toolkit_rag_quality(pairs: Paired) -> bool:
    """Return whether toolkit-rag-quality blocks without ``--alpha``."""
    return pairs.mean_before > 0 and -pairs.gain > BUDGET * pairs.mean_before


def toolkit_rag_quality_alpha(pairs: Paired) -> bool:
    """Return whether toolkit-rag-quality blocks with ``--alpha 0.05``."""
    return toolkit_rag_quality(pairs) and retrieval_eval_gate(pairs)


def retrieval_eval_gate(pairs: Paired) -> bool:
    """Return whether retrieval-eval-gate blocks under its policy ``regression``."""
    return pairs.gain < 0 and 2 * _one_sided(pairs.gains.tobytes()) < ALPHA


@lru_cache(maxsize=1)
def _one_sided(gains: bytes) -> float:
    """Return the smaller one-sided p of the randomization test; two tools ask for it in turn."""
    return sign_flip_test(np.frombuffer(gains)).p


OTHER_TOOLS: dict[str, Callable[[Paired], bool]] = {
    "rag-ci": rag_ci,
    "toolkit-rag-quality": toolkit_rag_quality,
    "toolkit-rag-quality, alpha 5%": toolkit_rag_quality_alpha,
    "retrieval-eval-gate": retrieval_eval_gate,
}
