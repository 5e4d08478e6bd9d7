"""The document ids at a JMESPath of an answer, such as ``hits.hits[]._id``. Extra ``[http]``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.visitor import Options, TreeInterpreter

from pytest_rankcheck.errors import RankerError, quoted

Node = dict[str, Any]
"""A node of the syntax tree of a JMESPath."""

_IDENTITY: Node = {"type": "identity", "children": []}


class AnswerPath(TreeInterpreter):  # type: ignore[misc]
    """A JMESPath that must find a value in every hit.

    Only items of lists, such as groups without documents, may lack a value.
    """

    def __init__(self, path: str) -> None:
        """Compile the path."""
        super().__init__(Options())
        self.path = path
        try:
            self._tree: Node = jmespath.compile(path).parsed
        except JMESPathError as failure:
            reason = quoted(str(failure).partition("\n")[0])
            raise RankerError(f"http: ids='{quoted(path)}' is not a JMESPath: {reason}") from None

    def search(self, answer: object) -> object:
        """Return the value at the path.

        Raises:
            RankerError: a hit has no value there (JMESPath would leave it out, and the hits below
                would move up); or a function of the path does not accept the answer.
        """
        try:
            return self.visit(self._tree, answer)
        except JMESPathError as failure:
            reason = quoted(str(failure).partition("\n")[0])
            raise RankerError(f"'{quoted(self.path)}' failed on the answer: {reason}") from None

    def visit_projection(self, node: Node, value: object) -> object:
        """Return the values of the hits of a list, as in ``hits[]``."""
        hits = self.visit(node["children"][0], value)
        return self._values(hits, node) if isinstance(hits, list) else None

    def visit_value_projection(self, node: Node, value: object) -> object:
        """Return the values of the values of an object, as in ``hits.*``."""
        return self._checked(super().visit_value_projection, node, value)

    def visit_filter_projection(self, node: Node, value: object) -> object:
        """Return the values of the hits that meet a condition, as in ``hits[?score]``."""
        return self._checked(super().visit_filter_projection, node, value)

    def _checked(self, visit: Callable[[Node, object], Any], node: Node, value: object) -> object:
        base, _, *condition = node["children"]
        hits = visit({**node, "children": [base, _IDENTITY, *condition]}, value)
        return None if hits is None else self._values(hits, node)

    def _values(self, hits: list[object], node: Node) -> list[object]:
        """Return what the right side of a projection finds in each hit."""
        found = [self.visit(node["children"][1], hit) for hit in hits]
        values = [value for value in found if value is not None]
        are_groups = bool(values) and all(isinstance(value, list) for value in values)
        if len(values) < len(hits) and not are_groups:
            raise RankerError(
                f"only {len(values):,} of {len(hits):,} hits have a value at '{quoted(self.path)}'"
            )
        return values
