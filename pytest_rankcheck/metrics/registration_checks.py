"""Registering a metric: what is refused, and whether a function is one that was registered."""

from __future__ import annotations

import inspect
import keyword
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.metric_parameters import Parameter

__all__ = ["Origin", "refuse_impossible", "refuse_unless_callable"]

_INTERACTIVE = "__main__"
"""The module of a notebook's cells, each run of which is a file of its own."""

_EVERY_METRIC_HAS = ("cutoff", "hits", "judged_only")


@dataclass(frozen=True, slots=True)
class Origin:
    """The place in the source where a function is defined."""

    module: str
    name: str
    file: str
    line: int

    @classmethod
    def of(cls, function: Callable[..., object]) -> Origin:
        """Return where a function, or what it wraps, is defined."""
        inner = inspect.unwrap(function)
        code = getattr(inner, "__code__", None)
        return cls(
            module=str(getattr(inner, "__module__", "")),
            name=str(getattr(inner, "__qualname__", type(inner).__qualname__)),
            file=code.co_filename if code else "",
            line=code.co_firstlineno if code else 0,
        )

    def is_again(self, other: Origin) -> bool:
        """Whether this is a new definition of the same function.

        A conftest may be imported a second time, under another module name too, and a notebook's
        cell run again. Functions of two conftests are two functions, though both modules are
        called ``conftest``.
        """
        same_place = bool(self.file) and self.file == other.file
        interactive = self.module == other.module == _INTERACTIVE
        return self.name == other.name and (same_place or interactive)

    def __str__(self) -> str:
        where = f" in {quoted(self.file, 300)}, line {self.line}" if self.file else ""
        return f"{quoted(self.module)}.{quoted(self.name)}{where}"


def refuse_unless_callable(
    name: str, function: Callable[..., object], parameters: Iterable[str]
) -> None:
    """Refuse a function that cannot be called as a metric's is.

    Raises:
        MetricError: it does not take the hits, the cutoff, and each parameter by its name.
    """
    try:
        inspect.signature(function).bind(None, None, **dict.fromkeys(parameters))
    except TypeError as failure:
        called = ", ".join(("hits", "cutoff", *(f"{word}=..." for word in parameters)))
        spelled = getattr(function, "__name__", "function")
        raise MetricError(
            f"{name}: its function is called as {quoted(spelled)}({called}), which it does not "
            f"take: {quoted(failure)}"
        ) from None


def refuse_impossible(
    names: tuple[str, ...], parameters: tuple[Parameter, ...], range: tuple[float, float]
) -> None:
    """Refuse what could be registered but never asked for.

    Raises:
        MetricError: a name that no metric's name can be, a parameter that every metric has, or a
            range that is none.
    """
    for name in names:
        if not isinstance(name, str):
            raise MetricError('a metric is registered under a name: @metric("Revenue")')
        plain = unicodedata.normalize("NFKC", name) == name  # as a name is read
        possible = plain and name.isidentifier() and not keyword.iskeyword(name)
        if not possible or name in ("true", "false"):
            raise MetricError(
                f"'{quoted(name)}' cannot be a metric's name: letters, digits and _ make one, as "
                "in Revenue"
            )
    for parameter in parameters:
        if parameter.name in _EVERY_METRIC_HAS:
            raise MetricError(
                f"{names[0]}: a parameter cannot be called {parameter.name}, which every metric "
                "has; name it differently"
            )
    if not range[0] < range[1]:
        raise MetricError(
            f"{names[0]}: range={quoted(range)} is none; give the least and the greatest value"
        )
