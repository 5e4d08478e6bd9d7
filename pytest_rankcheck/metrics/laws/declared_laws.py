"""What is declared of a metric or a similarity: which laws it keeps, and on which judgments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypedDict, Unpack

from pytest_rankcheck.errors import MetricError, quoted, suggestion
from pytest_rankcheck.metrics.metric_parameters import Value

__all__ = [
    "ALIKE",
    "SOUND",
    "Holds",
    "Laws",
    "PairLaws",
    "Property",
    "at_one",
    "checked_laws",
    "first_only",
    "having",
    "whole",
]

Holds = bool | Literal["binary"]
"""Whether a law holds: always, not always, or wherever the judgments are binary."""

Property = Holds | Callable[[Mapping[str, Value]], Holds | None]
"""What holds of a metric, or a function that tells it from the parameters.

The function is given every parameter by name, and the cutoff (or None) as ``"cutoff"``. It may
return None: nothing is declared.
"""


class Laws(TypedDict, total=False):
    """The laws that a metric may be declared to keep, or not; one left out is not declared.

    The definitions are those of the functions of the same name in the modules beside this one.
    """

    monotone: Property
    optimal: Property
    identity: Property
    normalised: Property
    sensitive: Property
    robust_1: Property
    stable: Property
    empty_worst: Property
    none_worst: Property
    all_best: Property
    cutoff_local: Property
    cutoff_beyond: Property


class PairLaws(TypedDict, total=False):
    """The laws that a similarity of two rankings may be declared to keep, or not."""

    identity: bool
    symmetric: bool
    normalised: bool
    sensitive: bool
    robust_1: bool
    robust_2: bool
    stable: bool


def checked_laws(name: str, laws: Mapping[str, object], kinds: type) -> Mapping[str, object]:
    """Return ``laws``, each of which is one of ``kinds``.

    Raises:
        MetricError: there is no such law.
    """
    known = kinds.__annotations__
    for law in laws:
        if law not in known:
            hint = suggestion(law, known) or f"; the laws are {', '.join(known)}"
            raise MetricError(f"{quoted(name)}: there is no law '{quoted(law)}'{hint}")
    return laws


SOUND: Laws = {
    "monotone": True,
    "optimal": True,
    "stable": True,
    "empty_worst": True,
    "none_worst": True,
    "cutoff_local": True,
    "cutoff_beyond": True,
}
"""What most metrics keep."""


ALIKE: PairLaws = {
    "identity": True,
    "symmetric": True,
    "normalised": True,
    "robust_1": True,
    "robust_2": True,
    "stable": True,
}
"""What most similarities of two rankings keep."""


def having(base: Laws, **others: Unpack[Laws]) -> Laws:
    """Return the laws of ``base``, with these in addition or in their place."""
    return {**base, **others}


def whole(parameters: Mapping[str, Value]) -> Holds:
    """Hold without a cutoff."""
    return parameters["cutoff"] is None


def at_one(parameters: Mapping[str, Value]) -> Holds:
    """Hold at a cutoff of 1."""
    return parameters["cutoff"] == 1


def first_only(parameters: Mapping[str, Value]) -> Holds:
    """Hold on binary judgments at a cutoff of 1, where one place is all there is to order."""
    return "binary" if parameters["cutoff"] == 1 else False
