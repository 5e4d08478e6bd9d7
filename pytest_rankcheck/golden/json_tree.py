"""Navigating JSON documents of other tools, with errors that say what was expected and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.json_files import read_json, with_named


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a document, and the path to it: ``web.json: topics[0].queries[2]``."""

    value: object
    file: str
    path: str = ""

    @property
    def where(self) -> str:
        """The place, for messages."""
        return f"{self.file}: {self.path}" if self.path else self.file

    def get(self, key: str) -> Node | None:
        """Return an object's value for a key; None if it is missing or null."""
        value = self._object().get(key)
        return None if value is None else self._child(key, value)

    def need(self, key: str) -> Node:
        """Return an object's value for a key, which may be null; an error if it is missing."""
        child = self.get(key)
        if child is None and key not in self._object():
            raise GoldenSetError(f'{self.where}: no "{key}"')
        return child or self._child(key, None)

    def items(self) -> Iterator[Node]:
        """Yield the items of a list; an error if the value is something else."""
        if not isinstance(self.value, list):
            raise GoldenSetError(f"{self.where}: not a list but {quoted(self.value, 40)}")
        for index, item in enumerate(self.value):
            yield Node(item, self.file, f"{self.path}[{index}]")

    def pairs(self) -> Iterator[tuple[str, Node]]:
        """Yield the keys and values of an object, but null; an error for something else."""
        for key, value in self._object().items():
            if value is not None:
                yield key, self._child(key, value)

    def with_named(self, wanted: Iterable[str]) -> Node:
        """Return an object that has the wanted dotted names as keys; an error for another value."""
        return replace(self, value=with_named(self._object(), wanted))

    def text(self) -> str:
        """Return the value if it is a text that is not empty; otherwise an error."""
        if not isinstance(self.value, str) or not self.value:
            raise GoldenSetError(f"{self.where}: not a text but {quoted(repr(self.value), 40)}")
        return self.value

    def _child(self, key: str, value: object) -> Node:
        return Node(value, self.file, f"{self.path}.{quoted(key)}".lstrip("."))

    def _object(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            raise GoldenSetError(f"{self.where}: not an object but {quoted(self.value, 40)}")
        return self.value


def root_of(path: Path) -> Node:
    """Return the root of a JSON file."""
    return Node(read_json(path, GoldenSetError), str(path))
