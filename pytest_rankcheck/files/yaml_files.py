"""YAML, read strictly: each object knows its line, and what YAML could misread must be quoted.

YAML reads 007 as 7, no as false and 12:30 as 750, which would be wrong ids. Only the nodes that
PyYAML parses are used, so tags have no effect and aliases are never expanded.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.plain_values import id_text
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.remedies import install

_TAG = "tag:yaml.org,2002:"


class YamlObject(dict[str, object]):
    """An object of a YAML file, and the line where it begins."""

    line = 0


def read_yaml(path: Path, error: type[RankcheckError]) -> object:
    """Return the value that a YAML file contains, of plain types and `YamlObject`.

    A file without a value is an empty list.

    Raises:
        error: PyYAML is not installed; the file cannot be read or is not YAML, or is nested too
            deeply; an object has a duplicate key; an anchor is used again; or a value that is not
            text is not written as in JSON. The message names the line.
    """
    try:
        import yaml
    except ModuleNotFoundError:
        raise error(f"{path}: YAML needs PyYAML (extra [yaml]): {install('yaml')}") from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's loader is ten times as fast
    try:
        root = yaml.compose(text_of(path, error), Loader=loader)
    except (yaml.YAMLError, RecursionError) as failure:
        mark = getattr(failure, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else path
        problem = getattr(failure, "problem", None) or failure
        raise error(f"{where}: not YAML: {quoted(problem)}") from None
    return [] if root is None else _NodeReader(path, error).value(root)


class _NodeReader:
    """Makes values of the nodes of PyYAML."""

    def __init__(self, path: Path, error: type[RankcheckError]) -> None:
        self._path = path
        self._error = error
        self._seen: set[int] = set()

    def value(self, node: Any) -> object:
        kind = node.tag.removeprefix(_TAG)
        if node.id == "scalar":
            return self._scalar(node, kind)
        if kind not in ("map", "seq"):
            raise self._refusal(node, f"the tag {quoted(kind)} is not read; remove it")
        if id(node) in self._seen:
            raise self._refusal(node, "an anchor that is used again; repeat its content instead")
        self._seen.add(id(node))
        if node.id == "sequence":
            return [self.value(item) for item in node.value]
        found = YamlObject()
        found.line = node.start_mark.line + 1
        for key_node, child in node.value:
            key = id_text(self.value(key_node))
            if key is None or key in found:
                problem = "a key that is not text" if key is None else f"two keys '{quoted(key)}'"
                raise self._refusal(key_node, f"{problem}; rename it")
            found[key] = self.value(child)
        return found

    def _scalar(self, node: Any, kind: str) -> object:
        if kind == "str":
            return node.value
        if kind == "null":
            return None
        if kind in ("int", "float", "bool"):
            with suppress(ValueError):
                return json.loads(node.value.lower())
        shown = quoted(node.value, 60)
        problem = f"YAML reads {shown} as {quoted(kind, 60)}, not as text; write it in quotes"
        raise self._refusal(node, problem)

    def _refusal(self, node: Any, problem: str) -> RankcheckError:
        return self._error(f"{self._path}:{node.start_mark.line + 1}: {problem}")
