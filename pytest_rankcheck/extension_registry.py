"""The registry of extensions, to which other packages add formats, metrics, rankers and gates.

A plugin or a ``conftest.py`` of the root folder implements ``pytest_rankcheck_register(registry)``;
``python -m pytest_rankcheck --import MODULE`` calls the same function of a module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import ConfigurationError, quoted

if TYPE_CHECKING:
    from pytest_rankcheck.files.format_registry import Format
    from pytest_rankcheck.gates.gate import Gate
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.rankers.run import Run


Recogniser = Callable[[Path], bool]
"""Whether a file has a format; the path may be a folder."""

_ORIGINS: dict[tuple[str, str], str] = {}
"""The origin of each extension, by kind and name; the same code may add it again."""


class ExtensionRegistry:
    """Adds formats, metrics, rankers and gates.

    Every method raises a `ConfigurationError` if the name is already taken by another extension or
    by pytest-rankcheck itself. Adding the same function again is allowed, because several test
    sessions can run in one process.
    """

    def add_golden_format(
        self,
        name: str,
        read: Callable[[Path], GoldenSet],
        *,
        recognises: Recogniser | None = None,
        description: str = "",
    ) -> None:
        """Add a file format of golden sets, for `GoldenSet.load` and ``rankcheck_golden``.

        Args:
            name: for ``format=name``.
            read: reads a file or a folder.
            recognises: returns whether a file has the format; it takes precedence over our own
                formats. Without it, the format must be named.
            description: what the file looks like, for messages.
        """
        from pytest_rankcheck.golden.golden_files import GOLDEN_FORMATS

        _note("golden format", name, read, GOLDEN_FORMATS.by_name)
        GOLDEN_FORMATS.add(
            _format(name, read, recognises, description, lambda to: read(to.file).contents)
        )

    def add_run_format(
        self,
        name: str,
        read: Callable[[Path], Run],
        *,
        recognises: Recogniser | None = None,
        description: str = "",
    ) -> None:
        """Add a file format of runs, for `Run.load` and ``--rankcheck-run``.

        Args:
            name: for ``format=name``.
            read: reads a file.
            recognises: as in `add_golden_format`.
            description: what the file looks like, for messages.
        """
        from pytest_rankcheck.rankers.ranked_columns import columns_of
        from pytest_rankcheck.rankers.run_files import RUN_FORMATS

        def columns(source: Any, **_: bool) -> Any:
            rankings = (read(file).rankings().items() for file in source.files)
            return columns_of(chain.from_iterable(rankings), source.rules)

        _note("run format", name, read, RUN_FORMATS.by_name)
        RUN_FORMATS.add(_format(name, read, recognises, description, columns))

    def add_metric(self, name: str, compute: Callable[..., Any], **declaration: Any) -> None:
        """Add a metric.

        Args:
            name: its canonical name.
            compute: the function of judged hits, cutoff and parameters.
            declaration: what the decorator `metric` takes.
        """
        from pytest_rankcheck.metrics.metric_registry import metric

        metric(name, **declaration)(compute)

    def add_ranker_adapter(
        self, name: str, fits: Callable[[object], bool], adapt: Callable[[Any], object]
    ) -> None:
        """Add an adapter, so that the objects of a library are rankers.

        Args:
            name: what messages call the adapter.
            fits: returns whether an object belongs to that library; it takes precedence over our
                own adapters.
            adapt: returns the ranker to use for the object: a callable from a query's text to
                document ids, or a ranker of `pytest_rankcheck.rankers`, such as
                ``rankers.batch(...)``.
        """
        from pytest_rankcheck.rankers.ranker_lookup import ADDED_ADAPTERS

        _note("ranker adapter", name, adapt)
        ADDED_ADAPTERS[name] = (fits, adapt)

    def add_gate(self, name: str, make: Callable[..., Gate]) -> None:
        """Add a gate, for ``rankcheck_gate`` and ``compare --gate``.

        Args:
            name: its name in a configuration: ``name(parameter=value)``.
            make: returns the gate; its parameters are those of the configuration.
        """
        from pytest_rankcheck.gates.configured_gates import GATES

        _note("gate", name, make, GATES)
        GATES[name] = make


def _format(
    name: str,
    origin: Callable[..., object],
    recognises: Recogniser | None,
    description: str,
    read: Callable[..., Any],
) -> Format[Any]:
    from pytest_rankcheck.files.format_registry import Format

    return Format(
        name=name,
        description=description or f"a format of {origin.__module__}",
        recognises=lambda sample: recognises is not None and recognises(sample.path),
        read=read,
        is_first=True,
    )


def _note(kind: str, name: str, function: Callable[..., object], taken: Iterable[str] = ()) -> None:
    """Note where an extension comes from; refuse a name that is taken."""
    origin = f"{function.__module__}.{function.__qualname__}"
    holder = _ORIGINS.get((kind, name), "pytest-rankcheck" if name in taken else origin)
    if holder != origin:
        raise ConfigurationError(
            f"the {kind} '{quoted(name)}' of {origin} has the name of one of {holder}; give it "
            "another name"
        )
    _ORIGINS[kind, name] = origin
