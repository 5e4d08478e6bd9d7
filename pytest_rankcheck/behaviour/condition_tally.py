"""Test whether a condition changes answers: ask with and without it, in a random order.

Queries are asked `ASKS` times under the condition and as often without it. The condition is
confirmed if the answers differ from the first ones every time under it and never without it. If
they differ at least `_PROMISING` times under it and never without it, the queries are asked as
often once more. Then `ENOUGH` differences in total suffice, because a randomly built index, or a
race, may occasionally give the first answer again.

If the answers do not depend on the condition, all orders of the results of 5 + 5 requests are
equally likely (a randomisation test), whatever the answers do over time. Five differences are all
under the condition in 1 of C(10, 5) = 252 orders; three and then four are in 1 of
C(10, 3) / C(5, 3) * C(10, 4) / C(5, 4) = 12 * 42 = 504. So a condition is wrongly confirmed in at
most 1 of 252 cases, however often the answers change by chance.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["ASKS", "ENOUGH", "Tally", "tally"]

ASKS = 5
"""How often queries are asked again under a condition, and how often without it."""
_PROMISING = 3
"""With at least this many differences in the first `ASKS`, asking as often again is worthwhile."""
ENOUGH = 7
"""How many differences in twice `ASKS` requests confirm a condition."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often answers differed from the first ones."""

    under: int = 0
    """Under the condition, out of `asked_under`."""
    asked_under: int = 0
    control: int = 0
    """Without the condition, out of `asked_control`."""
    asked_control: int = 0

    @property
    def is_confirmed(self) -> bool:
        """Whether they differed often enough under the condition, and never without it."""
        if self.control or self.asked_under != self.asked_control:
            return False
        return (self.under, self.asked_under) == (ASKS, ASKS) or (
            self.asked_under == 2 * ASKS and self.under >= ENOUGH
        )

    @property
    def is_open(self) -> bool:
        """Whether further requests can still confirm the condition."""
        most = ASKS - _PROMISING if self.asked_under <= ASKS else 2 * ASKS - ENOUGH
        return not self.control and self.asked_under - self.under <= most

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.under + other.under,
            self.asked_under + other.asked_under,
            self.control + other.control,
            self.asked_control + other.asked_control,
        )


def tally(
    under: Callable[[], bool], control: Callable[[], bool], seed: str, *, is_patient: bool = False
) -> Tally:
    """Ask under a condition and without it, in a random order.

    Args:
        under: asks under the condition; returns whether the answers differ from the first ones.
        control: the same without the condition.
        seed: determines the order; the same for the same check, so that a failure is repeatable.
        is_patient: whether to continue when the condition can no longer be confirmed.
    """
    result, draw = Tally(), random.Random(seed)
    for _ in range(2):
        for is_under in draw.sample([True, False] * ASKS, 2 * ASKS):
            if is_under:
                result += Tally(under=under(), asked_under=1)
            else:
                result += Tally(control=control(), asked_control=1)
            if not is_patient and not result.is_open:
                return result
        if result.is_confirmed or not result.is_open:
            break
    return result
