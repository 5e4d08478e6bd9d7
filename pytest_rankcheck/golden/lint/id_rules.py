"""Lint rules for ids that tools split, hide or confuse."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule

_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
_DECIMAL = re.compile(r"\d+\.\d+")
_POWER = re.compile(r"\d(\.\d+)?E\+\d\d+")
"""A large number in the form in which spreadsheets show it."""
_LEAST_CHANGED = 5
"""How many ids must agree before they count as evidence about others."""


@rule("warning")
def odd_id(linted: Linted) -> RuleResult | None:
    """An id with white space or control characters."""
    texts = {query.text for query in linted.queries.values() if query.id == query.text}
    owners = _owners(linted, lambda value: _is_odd(value) and value not in texts)
    if not owners:
        return None
    first, query_id = next(iter(owners.items()))
    return RuleResult(
        query_ids=tuple(dict.fromkeys(owners.values())),
        what=f"{plural(len(owners), 'id has', 'ids have')} white space or control characters: "
        f"'{quoted(first)}' in query '{quoted(query_id)}'",
        why="TREC files and many tools split or drop them, and then the document is not found "
        "and counts as not retrieved",
        remedy="strip them when the set is created, or when it is read, with doc_id='strip'",
    )


@rule("warning")
def look_alike_id(linted: Linted) -> RuleResult | None:
    """Ids that differ only in case or Unicode normalisation."""
    queries = _look_alikes(linted.queries)
    documents = _look_alikes(linted.documents)
    groups = [*queries, *documents]
    if not groups:
        return None
    named = set(chain.from_iterable(documents))
    grades = linted.contents.grades.items()
    owner = {doc: query_id for query_id, judged in grades for doc in named & judged.keys()}
    concerned = [value for group in queries for value in group]
    concerned += [owner[value] for group in documents for value in group]
    pair = ", ".join(f"'{quoted(value)}'" for value in groups[0][:3])
    return RuleResult(
        query_ids=tuple(dict.fromkeys(concerned)),
        what=f"{plural(len(groups), 'group')} of ids that differ only in case or Unicode "
        f"normalisation: {pair}",
        why="They are different documents here, but usually one document in the index: the ranker "
        "loses points for finding it under the other spelling",
        remedy="spell each id as in the index, or map ids with doc_id=, such as doc_id='lower'",
    )


@rule("warning")
def merged_ids(linted: Linted) -> RuleResult | None:
    """`doc_id=` maps the judged documents to less than half as many ids."""
    before, after = linted.contents.merged_ids or (0, 0)
    if 2 * after >= before:
        return None
    return RuleResult(
        query_ids=(),
        what=f"doc_id= maps {before:,} judged documents to {after:,} ids",
        why="That is right if the judged documents are parts of others, such as chunks; otherwise "
        "different documents count as one, and a ranker finds them too easily",
        remedy="check a few ids, and choose a rule that keeps different documents apart",
    )


def _owners(linted: Linted, matches: Callable[[str], bool]) -> dict[str, str]:
    """Return the matching ids, each with the first query that has it."""
    owners: dict[str, str] = {}
    for query_id, judged in linted.contents.grades.items():
        for value in (query_id, *judged):
            if value not in owners and matches(value):
                owners[value] = query_id
    return owners


def _is_odd(value: str) -> bool:
    if value.isascii():
        return not value.isprintable() or " " in value
    return any(char.isspace() or unicodedata.category(char) in _HIDDEN for char in value)


def _look_alikes(ids: Collection[str]) -> list[list[str]]:
    forms = [
        (value if value.isascii() else unicodedata.normalize("NFKC", value)).casefold()
        for value in ids
    ]
    if len(set(forms)) == len(forms):
        return []
    groups: dict[str, list[str]] = {}
    for form, value in zip(forms, ids, strict=True):
        groups.setdefault(form, []).append(value)
    return [group for group in groups.values() if len(group) > 1]


@rule("warning")
def number_id(linted: Linted) -> RuleResult | None:
    """Ids that were changed as if they were numbers: `7.0`, `1.2E+05`, or `7` among `00012`."""
    kinds = {"query": list(linted.queries), "document": linted.documents}
    found = {kind: list(_as_numbers(ids)) for kind, ids in kinds.items()}
    words = [f"{kind} ids: {what}" for kind, parts in found.items() for what, _ in parts]
    if not words:
        return None
    changed = {example for parts in found.values() for _, example in parts}
    owners = _owners(linted, changed.__contains__)
    return RuleResult(
        query_ids=tuple(dict.fromkeys(owners.values())),
        what="; ".join(words),
        why="Spreadsheets and data frames turn ids into numbers, and nothing is found under the "
        "new ids: the ranker looks as if it returned only unjudged documents",
        remedy="export the ids again as text (pandas: dtype=str), or map them with doc_id=, such "
        "as 'remove_suffix:.0' or 'strip_zeros'; a corpus= shows which ids are right",
    )


def _as_numbers(ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the evidence that ids were changed like numbers, each with an example."""
    decimals = [value for value in ids if _DECIMAL.fullmatch(value)]
    if len(decimals) >= _LEAST_CHANGED and all(
        set(_fraction(value)) == {"0"} for value in decimals
    ):
        yield f"{len(decimals):,} end with '.0', such as '{quoted(decimals[0])}'", decimals[0]
    powers = [value for value in ids if _POWER.fullmatch(value)]
    if powers:
        yield f"{len(powers):,} in the form of '{quoted(powers[0])}'", powers[0]
    padded = [value for value in ids if value[0] == "0" and value.isalnum() and len(value) > 1]
    widths = {len(value) for value in padded}
    if len(padded) < _LEAST_CHANGED or len(widths) > 1:
        return
    (width,) = widths
    short = [value for value in ids if value.isdecimal() and len(value) < width]
    longer = any(value.isdecimal() and len(value) > width for value in ids)
    if short and not longer:
        what = (
            f"{len(padded):,} begin with 0 and have {width} characters, such as "
            f"'{quoted(padded[0])}', but {len(short):,} are shorter numbers, such as "
            f"'{quoted(short[0])}'"
        )
        yield what, short[0]


def _fraction(value: str) -> str:
    return value.partition(".")[2]
