"""Lint rules for ids that tools split, hide or confuse."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule

_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})


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
    owner = {doc: query_id for query_id, judged in linted.contents.grades.items() for doc in judged}
    documents = _look_alikes(owner)
    groups = [*queries, *documents]
    if not groups:
        return None
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


def _look_alikes(ids: Iterable[str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for value in ids:
        plain = value if value.isascii() else unicodedata.normalize("NFKC", value)
        groups.setdefault(plain.casefold(), []).append(value)
    return [group for group in groups.values() if len(group) > 1]
