"""The grammar of metric names: ``Name(parameter=value, ...)@cutoff``.

It is the grammar of ir_measures, so names carry over. A name is also a Python expression: it is
parsed into a syntax tree, and every node is checked. Nothing is ever evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.metric_parameters import Call

_LONGEST_NAME = 1000
_PLAIN = (ast.Constant, ast.UnaryOp, ast.Name)
"""The node types that are valid keys of a mapping and elements of a tuple."""


@dataclass(frozen=True, slots=True)
class NameParts:
    """The parts of a name, before the metric is looked up."""

    name: str
    given: Mapping[str, object]
    """The parameters as written."""
    cutoff: object


def parts_of(text: str) -> NameParts:
    """Return the parts of a name.

    Raises:
        MetricError: ``text`` does not follow the grammar.
    """
    if len(text) > _LONGEST_NAME:
        raise MetricError(f"the metric name is too long ({len(text):,} characters): {quoted(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _not_a_name(text) from None
    if "#" in text:  # a comment
        raise _not_a_name(text)
    cutoff: object = None
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        cutoff = _literal(tree.right, text)
        tree = tree.left
    given: dict[str, object] = {}
    if isinstance(tree, ast.Call):
        pairs = list(_keywords(tree, text))
        given = dict(pairs)
        if len(given) < len(pairs):
            raise MetricError(f"{quoted(text)}: duplicate parameter")
        tree = tree.func
    if not isinstance(tree, ast.Name):
        raise _not_a_name(text)
    return NameParts(tree.id, given, cutoff)


def _keywords(tree: ast.Call, text: str) -> Iterator[tuple[str, object]]:
    if tree.args:
        raise MetricError(
            f"{quoted(text)}: write parameters with their names, as in nDCG(gain=linear)"
        )
    for keyword in tree.keywords:
        if keyword.arg is None:
            raise _not_a_name(text)
        yield keyword.arg, _literal(keyword.value, text)


def _literal(node: ast.expr, text: str) -> object:
    """Return the value that a node of the syntax tree stands for, without evaluating anything."""
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
        case ast.Tuple(elts=elements) if all(isinstance(each, _PLAIN) for each in elements):
            return tuple(_literal(each, text) for each in elements)
        case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]):
            return Call(word, tuple(_literal(argument, text) for argument in arguments))  # type: ignore[misc]
    raise _not_a_name(text)


def _not_a_name(text: str) -> MetricError:
    return MetricError(
        f"'{quoted(text)}' is not a metric name; write Name(parameter=value)@cutoff, "
        "for example nDCG@10 or AP(rel=2)@100"
    )
