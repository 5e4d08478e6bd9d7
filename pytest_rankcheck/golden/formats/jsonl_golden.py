"""Our own format, made for people to read and edit: one JSON object per line and query.

    {"query_id": "q1", "query": "red shoes", "relevance": {"d3": 2, "d7": 0}, "locale": "en"}

``query_id`` is required, ``relevance`` maps documents to grades, ``expected_text`` has instead a
text that a returned chunk must contain, or several, ``expect`` is a list of expectations on this
query (see ``expectation``), and every other key is an attribute. A line
``{"grade_scale": 4}`` holds the scale of the set.
"""

from __future__ import annotations

from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, quoted, suggestion
from pytest_rankcheck.files.delimited_tables import Role
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.json_files import queries_of, table_of_rows
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.expectation import entry_of, expectation_of
from pytest_rankcheck.golden.expected_text import EXPECTED_TEXT, is_unit, text_of
from pytest_rankcheck.golden.formats.retrieval_cases import how_to_read
from pytest_rankcheck.golden.golden_contents import SCALE, Contents
from pytest_rankcheck.golden.golden_source import Source, checked_id
from pytest_rankcheck.golden.judgment_batches import add_table
from pytest_rankcheck.golden.judgment_columns import TEXT
from pytest_rankcheck.golden.query import Query

_EXPECT = "expect"
_NEARLY_QUERY = Role(TEXT.name, ())
_KEYS = ("query_id", "query", "relevance", _EXPECT, EXPECTED_TEXT)


def read(source: Source) -> Contents:
    """Read a golden set."""
    builder = ContentsBuilder(source)
    if FileSample(source.file, GoldenSetError, source.columns).has_rows:
        add_table(builder, table_of_rows(source.file, GoldenSetError, source.columns.values()))
        return builder.built()
    for where, entry in queries_of(source.file, GoldenSetError, "relevance", (dict,)):
        _add_entry(builder, entry, where)
    return builder.built()


def _misplaced(key: str, wanted: str, nothing: str, where: str) -> GoldenSetError:
    return GoldenSetError(
        f'{where}: no "{wanted}"; if "{quoted(key)}" means that, rename the key; '
        f'if it is an attribute, add "{wanted}": {nothing}'
    )


def _refuse_misspelt_relevance(
    builder: ContentsBuilder, entry: dict[str, object], where: str
) -> None:
    """Check that no key of a line is nearly ``"relevance"``, or has an object of grades."""
    near = Role("relevance", ()).near(list(entry))
    for key, value in entry.items():
        grades = list(value.values()) if isinstance(value, dict) else []
        if key == near or (grades and all(map(builder.reader.is_grade, grades))):
            raise _misplaced(key, "relevance", "{}", where)


def _add_entry(builder: ContentsBuilder, entry: dict[str, object], where: str) -> None:
    if list(entry) == [SCALE]:
        builder.set_scale(entry[SCALE], where)
        return
    if "query_id" not in entry:
        near = next((key for key in entry if key not in _KEYS and suggestion(key, _KEYS[:1])), None)
        hint = f"; is '{quoted(near)}' misspelt?" if near else ""
        what = "" if builder.queries else "valid JSON, but not a golden set: "
        raise GoldenSetError(f'{where}: {what}no "query_id"{hint}; {how_to_read(entry)}')
    query_id = checked_id(entry.pop("query_id"), '"query_id"', where)
    texts = [key for key in entry if isinstance(entry[key], str)]
    if "query" not in entry and (misspelt := _NEARLY_QUERY.near(texts)) is not None:
        raise _misplaced(misspelt, TEXT.name, "null", where)
    text = entry.pop("query", None)
    relevance = entry.pop("relevance", None)
    if text is not None and not isinstance(text, str):
        raise GoldenSetError(f'{where}: "query" is {quoted(text)}, not text')
    if relevance is not None and not isinstance(relevance, dict):
        raise GoldenSetError(
            f'{where}: "relevance" is not an object of documents and grades, such as '
            '{"d3": 2, "d7": 0}; in a file of lists, the key is "relevant": ["d3", "d7"]'
        )
    expected = _expected(entry, where)
    expected_text = entry.pop(EXPECTED_TEXT, None)
    if not isinstance(relevance, dict):
        _refuse_misspelt_relevance(builder, entry, where)
        relevance = {}
    builder.add_query(Query(query_id, text, entry), where)
    rated = {doc_id: grade for doc_id, grade in relevance.items() if grade is not None}
    builder.add_judgments(query_id, rated, where)
    if expected_text is not None:
        builder.add_expected(query_id, expected_text, where, relevance)
    for number, item in enumerate(expected, start=1):
        try:
            expectation = expectation_of(query_id, item)
        except GoldenSetError as failure:
            which = f" {number}" if len(expected) > 1 else ""
            raise GoldenSetError(f"{where}: expectation{which}: {failure}") from None
        builder.add_expectation(expectation, where)


def _expected(entry: dict[str, object], where: str) -> list[object]:
    """Remove the expectations from the entry of a query, and return them."""
    if (expected := entry.pop(_EXPECT, None)) is not None:
        if not isinstance(expected, list) or not expected:
            raise GoldenSetError(
                f'{where}: "{_EXPECT}" is {quoted(expected, 40)}; it must be a list of '
                'expectations, such as [{"in_top": 3, "documents": ["d1"]}]'
            )
        return expected
    for key, value in entry.items():
        items = value if isinstance(value, list) else []
        if not any(isinstance(item, dict) for item in items):
            continue
        if key.casefold().startswith(_EXPECT) or suggestion(key, [_EXPECT]):
            raise GoldenSetError(
                f"{where}: unknown key \"{quoted(key)}\"; did you mean '{_EXPECT}'?"
            )
    return []


def write(contents: Contents, path: Path) -> None:
    """Write a golden set, one line per query, in the set's order.

    No attribute may have a name that the format uses.
    """
    scale = contents.stored_scale
    lines = [] if scale is None else [readable_json({SCALE: scale})]
    for query_id, query in contents.complete_queries().items():
        entry: dict[str, object] = {"query_id": query_id}
        if query.text is not None:
            entry["query"] = query.text
        elif _NEARLY_QUERY.near(list(query.attributes)):
            entry["query"] = None  # otherwise that attribute could be the text
        _check_attributes(query)
        judged = contents.grades[query_id]
        texts = [text_of(unit) for unit in filter(is_unit, judged)]
        entry |= {EXPECTED_TEXT: texts} if texts else {"relevance": dict(judged)}
        expectations = contents.expectations.get(query_id)
        if expectations:
            entry[_EXPECT] = [entry_of(expectation) for expectation in expectations]
        try:
            lines.append(readable_json({**entry, **query.attributes}))
        except ValueError:
            raise GoldenSetError(
                f"query '{quoted(query_id)}' has an infinite attribute, which JSON cannot hold"
            ) from None
    write_whole(path, "".join(f"{line}\n" for line in lines))


def _check_attributes(query: Query) -> None:
    taken = [key for key in _KEYS if key in query.attributes]
    if taken:
        raise GoldenSetError(
            f"query '{quoted(query.id)}' has an attribute named '{taken[0]}', which is reserved in "
            "this format; rename the attribute"
        )


FORMAT = Format(
    name="jsonl",
    description='JSON lines such as {"query_id": "q1", "query": "...", "relevance": {"d3": 2}}',
    recognises=lambda sample: sample.is_json,
    read=read,
    write=write,
    endings=(".jsonl",),
    cannot_hold=("candidates",),
    is_vague=True,
)
