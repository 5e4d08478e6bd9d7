"""The grammar of metric names: ``Name(parameter=value, ...)@cutoff``; and names that are refused.

It is the grammar of ir_measures, so names carry over. A name is also a Python expression: it is
parsed into a syntax tree, and every node is checked. Nothing is ever evaluated. Some names of other
tools have no equivalent here, or several; the error says what to write.
"""

from __future__ import annotations

import ast
import re
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


_NUMBER = re.compile(r"[_.]\d+(\.\d+)?$")
"""A cutoff in trec_eval's spelling."""

_INSTEAD_OF = {
    "coverage": (
        "CatalogCoverage is the share of the catalogue (rankcheck_documents) that is shown, and "
        "Distinct the share of all ranks with different documents"
    ),
    "hits": (
        "it is a count in ranx (here NumRelRet) and a share of queries in link prediction (here "
        "Success)"
    ),
    "11pt_avg": "take the mean of IPrec(needed=rounded)@0, ...@0.1, and so on to ...@1",
    "set_map": "for each query it is P times R, both without a cutoff",
    "set_f": (
        "a number after set_F is the square of beta; for set_F_0.25 write F(beta=0.5), for example"
    ),
    "relative_p": "use P, or AP(divide=min), which can reach 1 at any cutoff",
    "set_relative_p": "use P without a cutoff",
    "gm_bpref": "GMAP is the only geometric mean; Bpref has an arithmetic one",
    "rprec_mult": "Rprec is its value at 1.00",
    "num_q": "len(golden) is the number of queries",
    "num_nonrel_judged_ret": "NumRet, NumRelRet and Judged count what is retrieved",
    "utility": "use NumRelRet and NumRet",
    "ndcg_rel": "use nDCG",
    "rndcg": "use nDCG or Rprec",
    "bing": "use RBP or AP",
    "g": "use nDCG",
}
"""What to write instead of a name, by the name in lower case."""


def refusal_of(name: str) -> MetricError | None:
    """Return the error for a refused name of another tool; None for any other name."""
    folded = name.casefold()
    advice = _INSTEAD_OF.get(folded) or _INSTEAD_OF.get(_NUMBER.sub("", folded))
    return MetricError(f"'{quoted(name)}' is not a metric here: {advice}") if advice else None
