"""Test cases of retrieval: each a query with a list of relevant documents, in YAML or JSON.

    - question: How do I reset my password?         # or query, or user_input
      expected_ids: [kb-12, {id: kb-40, grade: 2}]  # without a grade: 1
      locale: en

The relevant documents are also called ``relevant``, ``relevant_docs``, ``expected_documents``,
``reference_context_ids`` or ``ratings``. An ``id`` is the id of the query; without it, the text is.
Every other key is an attribute. A file is a list of such objects, an object that holds one list of
them, such as Quepid's export of a case, or JSON lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.delimited_tables import Role, index_of_roles
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.json_files import first_of, objects_of, read_json, with_named
from pytest_rankcheck.files.packed_files import unpacked_suffix
from pytest_rankcheck.files.plain_values import flat
from pytest_rankcheck.files.yaml_files import YamlObject, read_yaml
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.expected_text import EXPECTED_TEXT
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source, checked_id
from pytest_rankcheck.golden.json_tree import Node
from pytest_rankcheck.golden.query import Query

_ID = Role("query_id", ("id", "qid", "queryid"))
_TEXTS = ("query", "question", "user_input", "query_text")
_TEXT = Role("query", _TEXTS)
_LISTS = ("relevant", "relevant_docs", "expected_documents", "expected_ids")
_RELEVANT = Role("relevance", (*_LISTS, "reference_context_ids", "ratings"))
_ROLES = (_ID, _TEXT, _RELEVANT, Role(EXPECTED_TEXT, ()))
_YAML_ENDINGS = (".yaml", ".yml")
_START = re.compile(r"---\s*$|%YAML|-( +[\w\"' -]+:(\s|$)| *\{)|[\w-]+:\s*$")
"""The beginning of YAML, for files whose names do not say that they are YAML."""


def read(source: Source) -> Contents:
    """Read the cases."""
    builder, columns = ContentsBuilder(source), source.columns
    keys: dict[str, str] = {}
    for each in _entries(FileSample(source.file, GoldenSetError, columns)):
        entry = each.with_named(columns.values())
        found = _keys_of(entry, source)
        if keys and found != keys:
            here, first = (listed([*each.values()]) or "none" for each in (found, keys))
            raise GoldenSetError(
                f"{entry.where}: the keys of the query and its documents are {here}, but in the "
                f"first entry {first}; use the same in all entries"
            )
        keys = keys or _complete(found, entry)
        _add_case(builder, entry, keys)
    return builder.built()


def _entries(sample: FileSample) -> Iterator[Node]:
    """Yield the entries of lines, of a list, or of the one list of an object."""
    path = sample.path
    if _has_lines(sample):
        for where, line in objects_of(path, GoldenSetError):
            yield Node(line, where)
        return
    is_json = sample.is_json and unpacked_suffix(path) not in _YAML_ENDINGS
    root = Node((read_json if is_json else read_yaml)(path, GoldenSetError), str(path))
    if isinstance(root.value, dict):
        lists = [child for _, child in root.pairs() if first_of(child.value)]
        lists = [each for each in lists if _is_case(first_of(each.value), sample.columns)] or lists
        if len(lists) != 1:
            names = listed([each.path for each in lists]) or "none"
            raise GoldenSetError(f"{root.where}: needs one list of queries; it has {names}")
        root = lists[0]
    for entry in root.items():
        value = entry.value
        yield Node(value, f"{path}:{value.line}") if isinstance(value, YamlObject) else entry


def _keys_of(entry: Node, source: Source) -> dict[str, str]:
    """Return the key of each role that an entry has."""
    header = [key for key, _ in entry.pairs()]
    names = [role.name for role in _ROLES]
    columns = {
        role: key
        for role, key in source.columns.items()
        if role in names and (key in header or role in source.needed or not source.is_shared)
    }
    places = index_of_roles(header, _ROLES, columns, entry.where, GoldenSetError)
    keys = {role: header[place] for role, place in places.items()}
    if keys.get("query_id") in _TEXTS:  # the text is the id
        keys["query"] = keys["query_id"]
    return keys


def _complete(keys: dict[str, str], entry: Node) -> dict[str, str]:
    """Return the keys of the first entry, which needs a query and relevant documents."""
    is_judged = "relevance" in keys or EXPECTED_TEXT in keys
    for role, what in ((_TEXT, "query"), (_RELEVANT, "relevant documents")):
        if role.name not in keys and not (role is _RELEVANT and is_judged):
            raise GoldenSetError(
                f"{entry.where}: no {what}; {how_to_read(each for each, _ in entry.pairs())}"
            )
    return keys


def how_to_read(keys: Iterable[str]) -> str:
    """Return the end of an error: the keys of an entry, and how to say what they mean."""
    return (
        f"its keys are {listed([*keys], 10) or 'none'}. Say which is the query and which holds the "
        'documents that people judged: rankcheck_columns = ["query=KEY", "relevance=KEY"] '
        "(pyproject.toml; columns= in Python), with a.b for a key within another; or write "
        '{"q1": {"d3": 2}}, or see docs/extending.md'
    )


def _add_case(builder: ContentsBuilder, entry: Node, keys: Mapping[str, str]) -> None:
    if entry.get("expect") is not None:
        own = 'JSON lines with "query_id" and "relevance"'
        raise GoldenSetError(f"{entry.where}: expectations need our own format, {own}")
    text = entry.need(keys["query"]).text()
    id_key = keys.get("query_id", keys["query"])
    query_id = checked_id(entry.need(id_key).value, f"'{quoted(id_key)}'", entry.where)
    taken = keys.values()
    others = flat({key: child.value for key, child in entry.pairs() if key not in taken})
    attributes = {key: value for key, value in others.items() if key not in taken}
    builder.add_query(Query(query_id, text, attributes), entry.where)
    if EXPECTED_TEXT in keys:
        expected = entry.need(keys[EXPECTED_TEXT]).value
        builder.add_expected(query_id, expected, entry.where, "relevance" in keys)
        return
    relevant = entry.need(keys["relevance"])
    if isinstance(relevant.value, dict):
        for doc_id, grade in relevant.pairs():
            builder.add_judgment(query_id, doc_id, grade.value, grade.where)
        return
    reader = builder.source.reader(has_grades=False)
    ungraded = (reader.grade(None) if reader.has_one_grade else None) or 1
    for item in [relevant] if isinstance(relevant.value, str) else relevant.items():
        if isinstance(item.value, dict):
            graded = item.need("id").value, item.need("grade").value
            builder.add_judgment(query_id, *graded, item.where)
        else:
            doc_id = checked_id(item.value, "a document id", item.where)
            builder.collected.add(query_id, doc_id, ungraded, item.where)


def _is_case(entry: Mapping[str, object], columns: Mapping[str, str]) -> bool:
    """Whether an object has keys of a case, and is neither of our own format nor a row."""
    entry = with_named(entry, columns.values())
    if columns.get("doc_id") in entry:
        return False
    if any(columns.get(role.name) in entry and role.name not in entry for role in _ROLES):
        return True
    names = [*_RELEVANT.names]
    if "query_id" not in entry:
        names.append(EXPECTED_TEXT)
    return "relevance" not in entry and any(name in entry for name in names)


def _has_lines(sample: FileSample) -> bool:
    first = sample.first_object
    if not first:
        return False
    return _is_case(first, sample.columns) or not any(map(first_of, first.values()))


def recognises(sample: FileSample) -> bool:
    """Whether a file has cases, judging by its first entry."""
    first, (number, _) = sample.first_object, sample.numbered_line
    if not first:
        is_named = number > 0 and unpacked_suffix(sample.path) in _YAML_ENDINGS
        return is_named or _START.match(sample.line) is not None
    is_own = "query_id" in first or "relevance" in first
    inner = [] if is_own else map(first_of, first.values())
    is_array = sample.numbered_line[1].lstrip().startswith("[") and "query_id" not in first
    if is_array and isinstance(first.get("relevance"), dict):
        return True
    return any(_is_case(each, sample.columns) for each in (first, *inner))


FORMAT = Format(
    name="cases",
    description='YAML or JSON such as [{"question": "...", "expected_ids": ["d3"]}]',
    recognises=recognises,
    read=read,
)
