"""Our own format, made to be read and edited by people: one JSON object a line, one a query.

    {"query_id": "q1", "query": "red shoes", "relevance": {"d3": 2, "d7": 0}, "locale": "en"}

``query_id`` is required, ``relevance`` maps documents to grades, every other key is an attribute.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

from pytest_rankcheck.errors import GoldenSetError, quoted, suggestion
from pytest_rankcheck.files import Format, lines_of, readable_json, write_whole
from pytest_rankcheck.golden.content import Contents, checked_grade, checked_id
from pytest_rankcheck.golden.query import Query

__all__ = ["FORMAT"]

_KEYS = ("query_id", "query", "relevance")


def read(path: Path) -> Contents:
    """Read a golden set.

    Raises:
        GoldenSetError: a line is not such an object; file and line are named.
    """
    contents = Contents()
    for number, line in lines_of(path, GoldenSetError):
        if not line.startswith("#"):
            _add_line(contents, line, f"{path}:{number}")
    return contents


def _add_line(contents: Contents, line: str, where: str) -> None:
    entry = _parsed(line, where)
    if "query_id" not in entry:
        near = next((key for key in entry if suggestion(key, _KEYS[:1])), None)
        hint = f"; is '{quoted(near)}' meant?" if near else ""
        raise GoldenSetError(f'{where}: no "query_id"{hint}')
    query_id = checked_id(entry.pop("query_id"), '"query_id"', where)
    text, relevance = entry.pop("query", None), entry.pop("relevance", {})
    if text is not None and not isinstance(text, str):
        raise GoldenSetError(f'{where}: "query" is {quoted(text)}, not text')
    if not isinstance(relevance, dict):
        raise GoldenSetError(
            f'{where}: "relevance" is not an object of documents and grades, such as '
            '{"d3": 2, "d7": 0}'
        )
    contents.add_query(Query(query_id, text, entry), where)
    for doc_id, grade in relevance.items():
        doc = checked_id(doc_id, "a document id", where)
        contents.add_judgment(query_id, doc, checked_grade(grade, doc, where), where)


def _parsed(line: str, where: str) -> dict[str, object]:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        """Keep what json would drop silently: a key that stands twice with different values."""
        found: dict[str, object] = {}
        for key, value in pairs:
            if key in found and found[key] != value:
                raise GoldenSetError(
                    f"{where}: '{quoted(key)}' stands twice, with {quoted(found[key])} and "
                    f"{quoted(value)}; decide for one of them"
                )
            found[key] = value
        return found

    def not_finite(token: str) -> NoReturn:
        raise GoldenSetError(f"{where}: {token} is not a finite number")

    try:
        entry = json.loads(line, object_pairs_hook=unique, parse_constant=not_finite)
    except GoldenSetError:
        raise
    except (ValueError, RecursionError) as failure:
        raise GoldenSetError(f"{where}: not JSON: {failure}; each line is one object") from None
    if not isinstance(entry, dict):
        raise GoldenSetError(f"{where}: not an object but {quoted(line, 40)}")
    return entry


def write(contents: Contents, path: Path) -> None:
    """Write a golden set, a line a query, in the set's order."""
    lines = []
    for query_id, grades in contents.grades.items():
        query = contents.queries[query_id]
        entry: dict[str, object] = {"query_id": query_id}
        if query.text is not None:
            entry["query"] = query.text
        _check_attributes(query)
        try:
            lines.append(readable_json({**entry, "relevance": dict(grades), **query.attributes}))
        except ValueError:
            raise GoldenSetError(
                f"query '{quoted(query_id)}' has an attribute that is NaN or infinite"
            ) from None
    write_whole(path, "".join(f"{line}\n" for line in lines))


def _check_attributes(query: Query) -> None:
    taken = [key for key in _KEYS if key in query.attributes]
    if taken:
        raise GoldenSetError(
            f"query '{quoted(query.id)}' has an attribute named '{taken[0]}', which this format "
            "uses itself; rename the attribute"
        )


FORMAT = Format(
    name="jsonl",
    description='JSON lines such as {"query_id": "q1", "query": "...", "relevance": {"d3": 2}}',
    recognises=lambda line: line.lstrip().startswith("{"),
    read=read,
    write=write,
)
