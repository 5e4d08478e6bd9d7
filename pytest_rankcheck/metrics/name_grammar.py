"""The grammar of metric names: ``Name(parameter=value, ...)@cutoff``.

It is that of ir_measures, so names carry over. A name is also a Python expression, which is how
it is read: into a syntax tree whose every node is checked. Nothing is ever evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.metric_parameters import Call

__all__ = ["Parts", "parts_of"]

_LONGEST_NAME = 1000
_PLAIN = (ast.Constant, ast.UnaryOp, ast.Name)
"""What the keys of a mapping may be."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What stands in a name, before anything is known of the metric."""

    name: str
    given: Mapping[str, object]
    """The parameters, as they are written."""
    cutoff: object


def parts_of(text: str) -> Parts:
    """Return the parts of a name.

    Raises:
        MetricError: ``text`` is not in the grammar.
    """
    if len(text) > _LONGEST_NAME:
        raise MetricError(f"a metric name of {len(text):,} characters: {quoted(text)}")
    tree = _tree(text)
    cutoff: object = None
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        cutoff = _literal(tree.right, text)
        tree = tree.left
    given: dict[str, object] = {}
    if isinstance(tree, ast.Call):
        pairs = list(_keywords(tree, text))
        given = dict(pairs)
        if len(given) < len(pairs):
            raise MetricError(f"{quoted(text)}: a parameter is given twice")
        tree = tree.func
    if not isinstance(tree, ast.Name):
        raise _no_name(text)
    return Parts(tree.id, given, cutoff)


def _tree(text: str) -> ast.expr:
    if "#" in text:  # where a comment would begin
        raise _no_name(text)
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _no_name(text) from None


def _keywords(tree: ast.Call, text: str) -> Iterator[tuple[str, object]]:
    if tree.args:
        raise MetricError(
            f"{quoted(text)}: write parameters with their names, as in nDCG(gain=linear)"
        )
    for keyword in tree.keywords:
        if keyword.arg is None:
            raise _no_name(text)
        yield keyword.arg, _literal(keyword.value, text)


def _literal(node: ast.expr, text: str) -> object:
    """Return the value that a node of the syntax tree spells, without evaluating anything."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Name(id=word):
            return {"true": True, "false": False}.get(word, word)
        case ast.Dict(keys=keys, values=values) if all(isinstance(key, _PLAIN) for key in keys):
            pairs = zip(keys, values, strict=True)
            return {_literal(key, text): _literal(value, text) for key, value in pairs if key}
        case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]):
            return Call(word, tuple(_literal(argument, text) for argument in arguments))  # type: ignore[misc]
    raise _no_name(text)


def _no_name(text: str) -> MetricError:
    return MetricError(
        f"'{quoted(text)}' is not a metric name; write Name(parameter=value)@cutoff, "
        "for example nDCG@10 or AP(rel=2)@100"
    )
