"""The laws that a metric or a similarity declares, and whether it keeps each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypedDict, Unpack

from pytest_rankcheck.errors import MetricError, quoted, suggestion
from pytest_rankcheck.metrics.metric_parameters import Value

__all__ = [
    "ALIKE",
    "SOUND",
    "LawDeclaration",
    "LawStatus",
    "Laws",
    "PairLaws",
    "at_one",
    "checked_laws",
    "first_only",
    "having",
    "whole",
]

LawStatus = bool | Literal["binary"]
"""Whether a law holds: always, not always, or whenever the judgments are binary."""

LawDeclaration = LawStatus | Callable[[Mapping[str, Value]], LawStatus | None]
"""Whether a law holds, or a function that returns this for a metric's parameters.

The function takes a mapping of every parameter by name, with the cutoff (or None) as ``"cutoff"``.
It may return None if nothing is declared.
"""


class Laws(TypedDict, total=False):
    """The laws that a metric may declare to keep or not to keep; others are left undeclared.

    The functions of the same names in this package's other modules define them.
    """

    monotone: LawDeclaration
    optimal: LawDeclaration
    identity: LawDeclaration
    normalised: LawDeclaration
    sensitive: LawDeclaration
    robust_1: LawDeclaration
    stable: LawDeclaration
    empty_worst: LawDeclaration
    none_worst: LawDeclaration
    all_best: LawDeclaration
    cutoff_local: LawDeclaration
    cutoff_beyond: LawDeclaration


class PairLaws(TypedDict, total=False):
    """The laws that a similarity of two rankings may declare to keep or not to keep."""

    identity: bool
    symmetric: bool
    normalised: bool
    sensitive: bool
    robust_1: bool
    robust_2: bool
    stable: bool


def checked_laws(name: str, laws: Mapping[str, object], kinds: type) -> Mapping[str, object]:
    """Return ``laws`` after checking their names against the keys of ``kinds``.

    Raises:
        MetricError: a law is unknown.
    """
    names = kinds.__annotations__
    for law in laws:
        if law not in names:
            hint = suggestion(law, names) or f"; the laws are {', '.join(names)}"
            raise MetricError(f"{quoted(name)}: unknown law '{quoted(law)}'{hint}")
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
"""The laws that most metrics keep."""


ALIKE: PairLaws = {
    "identity": True,
    "symmetric": True,
    "normalised": True,
    "robust_1": True,
    "robust_2": True,
    "stable": True,
}
"""The laws that most similarities of two rankings keep."""


def having(base: Laws, **others: Unpack[Laws]) -> Laws:
    """Return the laws of ``base``, extended or overridden by these."""
    return {**base, **others}


def whole(parameters: Mapping[str, Value]) -> LawStatus:
    """Declare that a law holds without a cutoff."""
    return parameters["cutoff"] is None


def at_one(parameters: Mapping[str, Value]) -> LawStatus:
    """Declare that a law holds at a cutoff of 1."""
    return parameters["cutoff"] == 1


def first_only(parameters: Mapping[str, Value]) -> LawStatus:
    """Declare that a law holds on binary judgments at a cutoff of 1, where only one rank counts."""
    return "binary" if parameters["cutoff"] == 1 else False
