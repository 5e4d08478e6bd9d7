"""Golden sets read as columns: every way gives the same set, places and messages."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, GoldenSetError
from pytest_rankcheck.files.id_columns import HeldIds, NumberIds
from pytest_rankcheck.files.plain_values import as_flag, is_blank
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.files.text_files import blocks_of_lines, numbered_lines
from pytest_rankcheck.files.trec_columns import columns_of
from pytest_rankcheck.golden import golden_contents, golden_dicts, judgment_batches
from pytest_rankcheck.golden.checked_values import checked_id
from pytest_rankcheck.golden.extra_columns import ExtraColumns
from pytest_rankcheck.golden.formats import trec_qrels
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgment_columns import places_of_roles
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.query import Query
from tests.examples import examples

RULES = ("error", "first", "last", "highest")


def outcome(read: Callable[[], GoldenSet]) -> object:
    """Return all that can be seen of a golden set, or the message of the error."""
    try:
        golden = read()
    except GoldenSetError as error:
        return str(error)
    contents = golden._contents
    places = [contents.place_at(row) for row in range(golden.judgment_count)]
    return (
        list(golden),
        [list(golden.grades(query_id).items()) for query_id in golden.query_ids],
        [golden.place(query_id) for query_id in golden.query_ids],
        places,
        contents.repeats,
        golden.lint(),
        golden.fingerprint,
        golden.judgments.to_dict("list"),
    )


@contextmanager
def replaced(where: object, name: str, value: object) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, value)
        yield


# --- dicts ---------------------------------------------------------------------------------------

IDS = st.sampled_from(["d", "d1", "d2", "d10", "é", '"', "\\", " ", "\ud800", "d!", "\x7f"])
TEXT_IDS = st.sampled_from(["d", "d1", "é", '"', "\ud800", ""])
ODD_IDS = st.one_of(IDS, st.sampled_from(["", 1, None, 1.5, True]))
GRADES = st.sampled_from([0, 1, 2, 3.0, -2, 0.1, -0.0, True, np.int64(3), np.float32(0.1), 2**60])
ODD_GRADES = st.one_of(
    GRADES, st.sampled_from(["2", "1_0", None, float("nan"), Decimal("0.5"), 10**400, False])
)


def judged(ids: st.SearchStrategy[object], grades: st.SearchStrategy[object]) -> object:
    return st.dictionaries(ids, st.dictionaries(ids, grades, max_size=5), max_size=4)


@examples(200)
@given(
    judgments=st.one_of(judged(IDS, GRADES), judged(ODD_IDS, ODD_GRADES)),  # type: ignore[arg-type]
    texts=st.dictionaries(IDS, st.sampled_from(["red shoes", "", 'a "b"']), max_size=3),
    attributes=st.dictionaries(IDS, st.just({"locale": "en"}), max_size=2),
    scale=st.sampled_from([None, None, 2, 2.0**61]),
)
def test_dicts_become_columns_or_are_checked_one_by_one(
    judgments: Mapping[str, Mapping[str, float]],
    texts: Mapping[str, str],
    attributes: Mapping[str, Mapping[str, object]],
    scale: float | None,
) -> None:
    def read() -> GoldenSet:
        return GoldenSet.from_dict(judgments, texts, attributes=attributes, scale=scale)

    with replaced(golden_dicts, "_columns_of", lambda judgments: None):
        one_by_one = outcome(read)
    assert outcome(read) == one_by_one


def test_ordinary_dicts_become_columns() -> None:
    columns = golden_dicts._columns_of({"q": {"d": 1, "e": 0.5}, "r": {}})
    assert columns is not None
    assert dict(columns) == {"q": {"d": 1, "e": 0.5}, "r": {}}


def test_a_golden_set_does_not_change_with_the_dicts_it_was_made_from() -> None:
    given = {"q": {"d": 1}}
    golden = GoldenSet.from_dict(given)
    given["q"]["d"] = 3
    given["r"] = {}
    assert dict(golden.grades("q")) == {"d": 1}
    assert golden.query_ids == ("q",)


@examples(100)
@given(judgments=st.one_of(judged(TEXT_IDS, GRADES), judged(TEXT_IDS, ODD_GRADES)))
def test_json_lines_are_read_alike_by_query_and_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, judgments: Mapping[str, Mapping[str, object]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "web.jsonl"
    lines = [
        json.dumps({"query_id": query_id, "relevance": grades}, default=float)
        for query_id, grades in judgments.items()
    ]
    file.write_text("\n".join(lines))
    for grades in (None, {0: 3, 1: 1, 2: 2, 3: 0}):
        read = partial(GoldenSet.load, file, "jsonl", grades=grades)
        with replaced(golden_contents, "_are_ordinary", lambda grades: False):
            one_by_one = outcome(read)
        assert outcome(read) == one_by_one
    assert golden_contents._are_ordinary({"d": 1, "e": 0.5})


# --- TREC qrels ----------------------------------------------------------------------------------

LINES = st.one_of(
    *[
        st.builds(
            lambda query, doc, grade, space: f"{query}{space}0{space}{doc}{space}{grade}",
            st.sampled_from(["q1", "q2", "é"]),
            st.sampled_from(["d1", "d2", "d3", "\N{NO-BREAK SPACE}", "\0"]),
            st.sampled_from(["0", "1", "1", "2.0", "01"]),
            st.sampled_from([" ", " ", " ", "\t", "  "]),
        )
    ]
    * 8,
    st.sampled_from(
        ["# comment", "#q1 0 d1 1", "", " \r", "\N{NO-BREAK SPACE}", " q1 0 d9 1", "q1 0 d8 1 "]
    ),
    st.sampled_from(["q1 0 d1", "q1 0 d1 high", "q1 0 d1 1 2", "q1 0 d1 nan", "\udcff 0 d 1"]),
)


def qrels_by_line(file: Path, rule: str) -> GoldenSet:
    """Read qrels one line after the other."""
    contents = Contents(Source(file, contradictions=rule))  # type: ignore[arg-type]
    for number, line in numbered_lines(file, GoldenSetError):
        words = columns_of(line)
        if line.startswith("#") or words == [""]:
            continue
        if len(words) != 4:
            raise GoldenSetError(
                f"{file}:{number}: {len(words)} columns, not 4: '{line.rstrip()}'; a line of qrels "
                "is: query_id 0 doc_id grade"
            )
        contents.add_judgment(words[0], words[2], words[3], number)
        _ = contents.judgments
    if not contents.grades:
        raise GoldenSetError(f"{file} is empty; a golden set has at least one judged query")
    return GoldenSet(contents, "web")


@examples(200)
@given(
    lines=st.lists(LINES, max_size=12),
    end=st.sampled_from(["\n", "\r\n", ""]),
    rule=st.sampled_from(RULES),
)
def test_qrels_are_read_alike_by_polars_as_columns_and_line_by_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, rule: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "web.qrels"
    text = (end or "\n").join(lines) + end
    file.write_bytes(text.encode("utf-8", "surrogateescape"))

    def read() -> GoldenSet:
        return GoldenSet.load(file, "trec", contradictions=rule)  # type: ignore[arg-type]

    line_by_line = outcome(lambda: qrels_by_line(file, rule))
    for block in (1, 1 << 20):  # bytes that are read at once
        with replaced(trec_qrels, "blocks_of_lines", partial(blocks_of_lines, size=block)):
            assert outcome(read) == line_by_line
    pytest.importorskip("polars", reason="polars is not installed")
    with replaced(trec_qrels, "polars_should_read", lambda path: True):
        assert outcome(read) == line_by_line


@pytest.mark.parametrize("is_large", [True, False])
def test_ordinary_qrels_become_columns(tmp_path: Path, is_large: bool) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    file = tmp_path / "web.qrels"
    file.write_text("q1 0 d1 2\nq2 0 d1 1\nq1 0 d3 0\n")
    with replaced(trec_qrels, "polars_should_read", lambda path: is_large):
        contents = trec_qrels.read(Source(file))
    assert contents.judgments.query_ids == ("q1", "q2")
    assert contents.judgments.documents.texts() == ["d1", "d3", "d1"]
    assert type(contents.judgments.documents).__name__ == ("TextIds" if is_large else "HeldIds")
    assert [contents.judgments.line(row) for row in range(3)] == [1, 3, 2]


# --- arrays --------------------------------------------------------------------------------------


def test_a_golden_set_of_arrays() -> None:
    documents, grades = NumberIds(np.array([1, 2, 3])), np.array([1.0, 0.0, 2.0])
    columns = Judgments(("1", "2", "3"), np.array([0, 2, 2, 3]), documents, grades)
    contents = Contents()
    contents.collected.take(columns)
    golden = GoldenSet(contents, "ltr")
    assert golden.query_ids == ("1", "2", "3")
    assert [dict(golden.grades(each)) for each in golden.query_ids] == [
        {"1": 1, "2": 0},
        {},
        {"3": 2},
    ]
    same = GoldenSet.from_dict({"1": {"1": 1, "2": 0}, "2": {}, "3": {"3": 2}})
    assert golden.fingerprint == same.fingerprint
    assert isinstance(golden.columns.documents, NumberIds)


# --- subsets and fingerprints --------------------------------------------------------------------


def test_subsets_in_any_order_keep_judgments_and_places(tmp_path: Path) -> None:
    file = tmp_path / "web.qrels"
    file.write_text("q1 0 d1 2\nq2 0 d1 1\nq1 0 d3 0\nq3 0 d2 1\n")
    part = GoldenSet.load(file).ordered(["q3", "q1"])
    assert part.query_ids == ("q3", "q1")
    assert dict(part.grades("q1")) == {"d1": 2, "d3": 0}
    assert part.place("q3") == f"{file}:4"
    assert part._contents.place_at(2) == f"{file}:3"


@examples(100)
@given(
    judgments=st.dictionaries(
        st.text(min_size=1), st.dictionaries(st.one_of(IDS, st.text(min_size=1)), GRADES)
    ),
    text=st.text(),
)
def test_a_fingerprint_is_the_hash_of_the_json_of_the_query(
    judgments: dict[str, dict[str, float]], text: str
) -> None:
    judgments["q"] = {}
    golden = GoldenSet.from_dict(judgments, {"q": text})
    for query_id, grades in judgments.items():
        pairs = sorted((doc_id, float(grade) + 0.0) for doc_id, grade in grades.items())
        content = json.dumps([query_id, text if query_id == "q" else "", pairs])
        expected = hashlib.sha256(content.encode()).hexdigest()[:16]
        assert golden.query_fingerprints[query_id] == expected


def test_frames_of_polars_and_arrow_need_no_pandas() -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)
    command = [sys.executable, "-c", WITHOUT_PANDAS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["q", "x", "2", "False"], done.stderr


WITHOUT_PANDAS = """
import sys
import polars as pl
from pytest_rankcheck import GoldenSet

judgments = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [2]})
queries = pl.DataFrame({"query_id": ["q"], "query": ["x"]})
golden = GoldenSet.from_frame(judgments, queries)
same = GoldenSet.from_frame(judgments.to_arrow(), queries.to_arrow().to_reader())
assert golden.fingerprint == same.fingerprint
print(*golden.query_ids, same.query("q").text, golden.max_grade, "pandas" in sys.modules)
"""


# --- tables --------------------------------------------------------------------------------------

CELLS = {
    "query_id": st.sampled_from(["q1", "q2", "q2", "q3", "é", "7"]),
    "doc_id": st.sampled_from(["d1", "d2", "d3", "d4", "d5", "x y"]),
    "relevance": st.sampled_from(["0", "1", "1", "1", "2.0", "true"]),
}
ODD_CELLS = {
    "query_id": st.sampled_from([None, "q1"]),
    "doc_id": st.sampled_from([None, None, "d1"]),
    "relevance": st.sampled_from([None, None, "high", "1_0", "nan", "1,5"]),
}
OTHERS = {
    "query": st.sampled_from(["red", "red", "red", "blue", None]),
    "title": st.sampled_from(["A", "B", None]),
    "grade_scale": st.sampled_from(["3", "3", "3", None, "4", "x"]),
    "locale": st.sampled_from(["en", "en", "de", None]),
    "price": st.sampled_from(["1.5", "2", None]),
    "candidate": st.sampled_from(["1", "0", None]),
}


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, str | None]]:
    """Return the rows of a table, most of them ordinary."""
    names = draw(st.lists(st.sampled_from(sorted(OTHERS)), unique=True, max_size=3))
    text_of_query = draw(st.booleans())
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        row = {name: draw(cells) for name, cells in CELLS.items()}
        row.update({name: draw(OTHERS[name]) for name in names})
        if text_of_query and "query" in row:
            row["query"] = f"text of {row['query_id']}"
        rows.append(row)
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        name = draw(st.sampled_from(sorted(ODD_CELLS)))
        rows[draw(st.integers(0, len(rows) - 1))][name] = draw(ODD_CELLS[name])
    return rows


def table_row_by_row(source: object, **given: Any) -> GoldenSet:
    """Read a table of judgments one row after the other."""
    file = source if isinstance(source, Path) else None
    contents = Contents(Source.of(file, **given))
    table = read_table(source, GoldenSetError, name="judgments")
    contents.places.numbering = table.numbering
    place = places_of_roles(contents, table.header)
    others = [at for at in range(len(table.header)) if at not in place.values()]
    first = table.header[: min(place["query_id"], place["doc_id"])]
    names = [table.header[at] for at in others]
    extras = ExtraColumns(contents, names, first, is_marked="candidate" in place)
    for number, row in (row for batch in table.batches() for row in batch.rows()):
        cells = {name: None if is_blank(row[at]) else row[at] for name, at in place.items()}
        if cells.get("grade_scale") is not None:
            contents.set_scale(cells["grade_scale"], number)
        query_id = checked_id(cells["query_id"], "query_id", number, contents.places)
        if cells.get("query") is not None or query_id not in contents.queries:
            text = cells.get("query")
            contents.see_query(Query(query_id, None if text is None else str(text)), number)
        mark = cells.get("candidate")
        is_candidate = "candidate" not in place or (mark is not None and as_flag(mark))
        doc_id, grade = cells["doc_id"], cells.get("relevance")
        is_named = doc_id is not None or grade is not None
        if is_named:
            doc_id = checked_id(doc_id, "doc_id", number, contents.places)
            if grade is not None or "candidate" not in place or not is_candidate:
                contents.add_judgment(query_id, doc_id, grade, number)
                _ = contents.judgments
            if cells.get("title") is not None:
                contents.titles[doc_id] = str(cells["title"])
        ids = HeldIds([query_id]), HeldIds([str(doc_id)]), np.array([is_named and is_candidate])
        extras.add_rows([number], *ids, [[row[at]] for at in others], errors_at=nullcontext)
    extras.assign()
    if not contents.grades:
        raise GoldenSetError(f"{file} is empty; a golden set has at least one judged query")
    return GoldenSet(contents, "web")


QUERIES = [{"query_id": "q1", "query": "red", "doc_id": "d1", "relevance": "1"}] * 2
SCALES = [{"query_id": "q1", "doc_id": "d1", "relevance": "1", "grade_scale": "3"}] * 2


@example([QUERIES[0], {**QUERIES[0], "doc_id": "d2", "query": "blue"}], "error", None, False)
@example([SCALES[0], {**SCALES[0], "doc_id": "d2", "grade_scale": "4"}], "error", None, False)
@example([SCALES[0], {**SCALES[0], "doc_id": "d2", "grade_scale": None}], "error", None, False)
@examples(200)
@given(
    rows=tables(),
    rule=st.sampled_from(RULES),
    grades=st.sampled_from([None, None, {"0": 0, "1": 3, "2": 1, "true": 1}, 1]),
    whole_numbers=st.booleans(),
)
def test_tables_of_all_kinds_are_read_alike_as_columns_and_row_by_row(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, str | None]],
    rule: str,
    grades: dict[str, float] | float | None,
    whole_numbers: bool,
) -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)
    folder = tmp_path_factory.getbasetemp()
    if grades == 1:
        rows = [{name: row[name] for name in row if name != "relevance"} for row in rows]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
    if whole_numbers:
        number = pl.col("relevance" if "relevance" in rows[0] else "doc_id")
        frame = frame.with_columns(number.cast(pl.Int64, strict=False))
    frame.write_csv(folder / "web.csv")
    frame.write_parquet(folder / "web.parquet")
    frame.write_ipc(folder / "web.arrow")
    given: dict[str, Any] = {"contradictions": rule, "grades": grades, "name": "web"}
    frames: dict[str, Callable[[], object]] = {
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pandas": frame.to_pandas,
        "objects": lambda: frame.to_pandas().astype(object),
        "pyarrow": frame.to_arrow,
        "batches": lambda: frame.to_arrow().to_reader(),
    }
    reads = {
        name: (make, lambda make=make: GoldenSet.from_frame(make(), **given))
        for name, make in frames.items()
    }
    for ending in ("csv", "parquet", "arrow"):
        file = folder / f"web.{ending}"
        reads[ending] = (lambda file=file: file, partial(GoldenSet.load, file, ending, **given))
    fingerprints = {}
    for form, (source, read) in reads.items():
        row_by_row = outcome(
            partial(table_row_by_row, source(), contradictions=rule, grades=grades)
        )
        for batch_rows in (1, 3, 1 << 20):
            with replaced(judgment_batches, "BATCH_ROWS", batch_rows):
                assert outcome(read) == row_by_row, form
        fingerprints[form] = row_by_row[6] if isinstance(row_by_row, tuple) else "error"
    if not whole_numbers:
        assert len(set(fingerprints.values())) == 1, fingerprints


def test_a_table_with_all_kinds_of_columns(tmp_path: Path) -> None:
    file = tmp_path / "web.csv"
    file.write_text(
        "query_id,query,doc_id,relevance,title,locale,grade_scale\n"
        "q1,red,d1,2,A,en,4\nq2,blue,d1,1,A,de,4\nq1,red,d3,0,,en,4\nq3,,,,,,\n".replace(
            "q3,,,,,,", "q3,hat,,,,en,"
        )
    )
    golden = GoldenSet.load(file)
    assert [query.text for query in golden] == ["red", "blue", "hat"]
    assert dict(golden.grades("q1")) == {"d1": 2, "d3": 0}
    assert [golden.place(each) for each in golden.query_ids] == [f"{file}:{n}" for n in (2, 3, 5)]
    assert (golden.title("d1"), golden.scale, golden.query("q2").attributes) == (
        "A",
        4,
        {"locale": "de"},
    )
