"""One reader of tables: every source with the same content gives the same columns."""

import csv
import gzip
import io
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rankcheck import (
    GoldenSet,
    GoldenSetError,
    RunError,
)
from pytest_rankcheck.files import table_batches
from pytest_rankcheck.files.plain_values import finite_number, id_text
from pytest_rankcheck.files.table_batches import Column, Table
from pytest_rankcheck.files.tables import read_table

pl = pytest.importorskip("polars", reason="polars is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)

HEADER = ["query_id", "doc_id", "score", "title"]
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff"), max_size=6)
ROWS = st.lists(
    st.tuples(
        TEXTS,
        st.integers(-(2**63), 2**63 - 1),
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
        TEXTS,
    ),
    min_size=1,
    max_size=8,
)
Rows = list[tuple[str, int, float | None, str]]


def file_of(rows: Rows, folder: Path, kind: str) -> Path:
    path = folder / f"table.{kind}"
    frame = pl.DataFrame(
        rows,
        schema={"query_id": pl.String, "doc_id": pl.Int64, "score": pl.Float64, "title": pl.String},
        orient="row",
    )
    bare, _, packing = kind.partition(".")
    if bare in ("csv", "tsv"):
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter="," if bare == "csv" else "\t", lineterminator="\n")
        writer.writerows([HEADER, *rows])
        raw = buffer.getvalue().encode()
    elif bare == "jsonl":
        lines = (json.dumps(dict(zip(HEADER, row, strict=True))) for row in rows)
        raw = "".join(f"{line}\n" for line in lines).encode()
    else:
        binary = io.BytesIO()
        frame.write_parquet(binary)
        raw = binary.getvalue()
    path.write_bytes(gzip.compress(raw) if packing else raw)
    return path


def frame_of(rows: Rows, kind: str) -> object:
    columns = dict(zip(HEADER, map(list, zip(*rows, strict=True)), strict=True))
    frames: dict[str, Callable[[], object]] = {
        "pandas": lambda: pd.DataFrame(columns),
        "pandas objects": lambda: pd.DataFrame(columns, dtype=object),
        "pandas categories": lambda: pd.DataFrame(columns).astype(
            {"query_id": "category", "doc_id": "category"}
        ),
        "pandas masked": lambda: pd.DataFrame(columns).convert_dtypes(),
        "pandas arrow": lambda: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
        "polars": lambda: pl.DataFrame(columns, schema_overrides={"score": pl.Float64}),
        "polars lazy": lambda: pl.LazyFrame(columns, schema_overrides={"score": pl.Float64}),
        "polars categories": lambda: pl.DataFrame(columns).cast({"query_id": pl.Categorical}),
        "arrow": lambda: pa.table(columns),
        "arrow batch": lambda: pa.RecordBatch.from_pydict(columns),
        "arrow reader": lambda: pa.table(columns).to_reader(max_chunksize=2),
    }
    # pandas 2.2 tries whether floats beyond the range of integers are integers.
    with np.errstate(invalid="ignore"):
        return frames[kind]()


FILES = ["csv", "tsv", "csv.gz", "jsonl", "jsonl.gz", "parquet"]
FRAMES = [
    *("pandas", "pandas objects", "pandas categories", "pandas masked", "pandas arrow"),
    *("polars", "polars lazy", "polars categories", "arrow", "arrow batch", "arrow reader"),
]


def content(table: Table, rows_at_once: int = 3) -> list[tuple[object, ...]]:
    """Return, for each row, its number, its ids by role, its score and its title."""
    found: list[tuple[object, ...]] = []
    for batch in table.batches(rows=rows_at_once):
        queries, docs = batch.column(0).ids(), batch.column(1).ids()
        scores = batch.column(2).numbers()
        assert not len(docs.invalid)
        assert not len(scores.invalid)
        query_ids: list[str | None] = list(queries.ids.texts())
        for row in queries.invalid.tolist():
            query_ids[row] = None
        titles = batch.column(3).cells()
        cells = (query_ids, docs.ids.texts(), scores.values.tolist(), titles)
        found += zip(batch.numbers, *cells, strict=True)
    return found


def expected(rows: Rows, first: int = 1) -> list[tuple[object, ...]]:
    return [
        (number, query_id or None, str(doc), math.nan if score is None else score, title)
        for number, (query_id, doc, score, title) in enumerate(rows, start=first)
    ]


def same(left: list[tuple[object, ...]], right: list[tuple[object, ...]]) -> None:
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert one[:3] == other[:3]
        assert one[4] == other[4]
        np.testing.assert_array_equal(one[3], other[3])


@settings(deadline=None)
@given(rows=ROWS, batch=st.integers(1, 4))
def test_every_file_with_the_same_content_gives_the_same_columns(rows: Rows, batch: int) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(table_batches, "TEXT_ROWS", batch)
        for kind in FILES:
            table = read_table(file_of(rows, Path(folder), kind), RunError)
            assert table.header == ([] if "jsonl" in kind else HEADER)
            first = {"csv": 2, "tsv": 2}.get(kind.partition(".")[0], 1)
            same(content(table, batch), expected(rows, first))


@settings(deadline=None)
@given(rows=ROWS, batch=st.integers(1, 4))
def test_every_frame_with_the_same_content_gives_the_same_columns(rows: Rows, batch: int) -> None:
    for kind in FRAMES:
        table = read_table(frame_of(rows, kind), RunError)
        assert table.header == HEADER
        same(content(table, batch), expected(rows))


ODD = [
    *("1", "+1", " 1", "1 ", "1_0", "1e5", ".5", "5.", "1e400", "nan", "NaN", "inf", "-Infinity"),
    *("0x10", "١", "1d5", "-0", "1e", "--1", "", "1,5", "9007199254740993", "1" * 400, "true"),
    *("4.9e-324", "\xa07", "1e-400", "2.2250738585072011e-308"),
]


def column_of(cells: list[Any], kind: str) -> Column:
    sources: dict[str, Callable[[], object]] = {
        "pandas": lambda: pd.DataFrame({"x": cells}),
        "objects": lambda: pd.DataFrame({"x": pd.Series(cells, dtype=object)}),
        "polars": lambda: pl.DataFrame({"x": cells}),
        "arrow": lambda: pa.table({"x": cells}),
    }
    (batch,) = read_table(sources[kind](), RunError).batches()
    return batch.column(0)


@settings(deadline=None)
@given(cells=st.lists(st.sampled_from(ODD) | st.text(st.sampled_from("0123456789.e+-_ "))))
def test_texts_become_numbers_by_one_rule(cells: list[str]) -> None:
    wanted = [math.nan if not cell else finite_number(cell) for cell in cells]
    columns = [Column(cells), *(column_of(cells, kind) for kind in ("polars", "arrow") if cells)]
    for column in columns:
        numbers = column.numbers()
        found: list[float | None] = numbers.values.tolist()
        for row in numbers.invalid.tolist():
            assert math.isnan(numbers.values[row])
            found[row] = None
        np.testing.assert_array_equal(
            np.array(found, dtype=object).astype(str), np.array(wanted, dtype=object).astype(str)
        )


KINDS = ("pandas", "objects", "polars", "arrow")
NO_IDS: list[tuple[list[Any], list[int]]] = [
    (["a", "", None, "b"], [1, 2]),
    ([1.0, 2.5], [0, 1]),
    ([True, False], [0, 1]),
    ([["a"], ["b"]], [0, 1]),
    ([pd.Timedelta("1s").to_pytimedelta()] * 2, [0, 1]),
    ([pd.Timestamp("2026-01-01").to_pydatetime()] * 2, [0, 1]),
    ([Decimal("1"), Decimal("2.5")], [0, 1]),
    ([None, None], [0, 1]),
    ([b"a", b"b"], [0, 1]),
]
NO_NUMBERS: list[tuple[list[Any], list[int]]] = [
    ([1.5, None, math.inf], [2]),
    ([True, None], [0]),
    (["x", "", "2"], [0]),
    ([Decimal("0.5"), None], []),
    ([[1.0]], [0]),
]
FEW: list[list[Any]] = [["a", "b", "a", None], [2, 1, 2], [0.5, 1.5], [True, False], [[1], [2]]]


@pytest.mark.parametrize("kind", KINDS)
def test_cells_of_all_types_are_ids_numbers_and_codes_or_not(kind: str) -> None:
    for cells, invalid in NO_IDS:
        column = column_of(cells, kind)
        assert column.ids().invalid.tolist() == invalid, cells
        assert id_text(column.cell(invalid[0])) is None, cells
    for cells, invalid in NO_NUMBERS:
        numbers = column_of(cells, kind).numbers()
        assert numbers.invalid.tolist() == invalid, cells
        finite = [finite_number(cell) for cell in cells]
        found = [None if math.isnan(value) else value for value in numbers.values.tolist()]
        assert found == finite, cells
    for cells in FEW:
        coded = column_of(cells, kind).coded()
        of_rows = map(plain, (coded.values[code] for code in coded.codes.tolist()))
        assert [None if cell != cell else cell for cell in of_rows] == cells
        assert len(coded.values) == len({str(cell) for cell in cells})


def plain(cell: object) -> object:
    return cell.tolist() if isinstance(cell, np.ndarray) else cell


def test_a_masked_column_and_large_numbers_are_ids() -> None:
    masked = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64")})
    large = pd.DataFrame({"x": np.array([2**64 - 1, 5], dtype=np.uint64)})
    (batch,) = read_table(masked, RunError).batches()
    assert batch.column(0).ids().invalid.tolist() == [1]
    assert batch.column(0).ids().ids.texts(np.array([0, 2])) == ["1", "3"]
    for frame in (large, pl.DataFrame({"x": large["x"].to_numpy()})):
        (batch,) = read_table(frame, RunError).batches()
        assert batch.column(0).ids().ids.texts() == [str(2**64 - 1), "5"]


# --- messages and places -------------------------------------------------------------------------


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for bad, message in (
        ("1", ":52: 1 column, but the header has 2: '1'; columns are separated by a comma"),
        ("1,2,3", ":52: 3 columns, but the header has 2"),
        ('"1,2', ":52: .*is a quotation mark left open"),
        ("1,\ud800", ":52: byte 3 is not UTF-8"),
        ("1,2\rx", ":52: new-line character|:52: 3 columns|:52: .*quotation mark"),
    ):
        lines = ["a,b", *(f"{number},x" for number in range(50)), bad, "51,x"]
        path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
        with pytest.raises(GoldenSetError, match=message):
            list(read_table(path, GoldenSetError).batches())


TABLES: dict[str, list[tuple[int, tuple[str, ...]]]] = {
    'a,b\n1,x\n"2\n,",y\n3,z\n': [(2, ("1", "x")), (3, ("2\n,", "y")), (5, ("3", "z"))],
    "\ufeffa,b\r\n\r\n\r\n1,x\r\n": [(4, ("1", "x"))],
    "a;b\n1;x,y\n2;z\n": [(2, ("1", "x,y")), (3, ("2", "z"))],
    '"a\nc",b\n1,x\n2,y': [(3, ("1", "x")), (4, ("2", "y"))],
    "a, b\n1, x\n": [(2, ("1", "x"))],
    "a\tb\n1\t\n\t2\n": [(2, ("1", "")), (3, ("", "2"))],
    "a,b\n1,x\n\ufeff2,y\n": [(2, ("1", "x")), (3, ("\ufeff2", "y"))],
    "a\n1\n\n2\n": [(2, ("1",)), (4, ("2",))],
}


def test_separated_tables_of_all_kinds_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for text, rows in TABLES.items():
        path.write_bytes(text.encode())
        table = read_table(path, RunError)
        assert [row for batch in table.batches() for row in batch.rows()] == rows, text


def test_broken_rows_are_reported_and_skipped(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n4,5\n")
    (tmp_path / "t.jsonl").write_text(
        '# note\n{"a": 1}\n{\n[1]\n{"a": 2, "a": 3}\n{"a": NaN}\n{"b": "x\\":", "a": 4}\n'
    )
    seen: list[tuple[int, str, str]] = []
    for name in ("t.csv", "t.jsonl"):
        table = read_table(
            tmp_path / name, RunError, name="log", on_broken=lambda *broken: seen.append(broken)
        )
        numbers = [number for batch in table.batches() for number in batch.numbers]
        assert numbers == {"t.csv": [2, 4], "t.jsonl": [2, 7]}[name]
    assert [(number, reason) for number, reason, _ in seen] == [
        *((3, "broken row"), (3, "not JSON"), (4, "no object"), (5, "not JSON"), (6, "not JSON"))
    ]
    assert seen[2][2] == "not an object but [1]"
    with pytest.raises(RunError, match=r"t.jsonl:3: not JSON"):
        list(read_table(tmp_path / "t.jsonl", RunError).batches())


def test_json_lines_may_have_different_keys(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n{"b": 2, "a": 3}\n{"c": {"d": 1}}\n{"a": 4}\n')
    layouts = read_table(path, RunError).batches()
    assert [(batch.header, list(batch.rows())) for batch in layouts] == [
        (("a",), [(1, (1,)), (4, (4,))]),
        (("b", "a"), [(2, (2, 3))]),
        (("c",), [(3, ({"d": 1},))]),
    ]


def test_only_the_wanted_columns_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1], "b": [2], "c": [3]}).write_parquet(path)
    (batch,) = read_table(path, RunError).batches([2, 0])
    assert (batch.column(2).cells(), batch.column(0).cells()) == ([3], [1])
    with pytest.raises(KeyError):
        batch.column(1)


# --- damaged and unusual files -------------------------------------------------------------------


def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = file_of([("q", number, 0.5, "title") for number in range(50)], tmp_path, "parquet")
    raw = path.read_bytes()
    random = np.random.default_rng(17)
    messages: list[str] = []
    for _ in range(150):
        damaged = bytearray(raw)
        for place in random.integers(8, len(raw), 3).tolist():
            damaged[place] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        try:
            for batch in read_table(path, RunError).batches():
                content_of = [batch.column(index) for index in range(len(batch.header))]
                for column in content_of:
                    column.ids(), column.numbers(), column.cells(), column.coded()
        except RunError as error:
            messages.append(str(error))
    assert len(messages) > 10
    assert all(message.startswith(str(path)) for message in messages)


def test_times_that_python_does_not_know_are_text() -> None:
    for kind in (pl.Datetime("us"), pl.Datetime("ms")):
        times = pl.DataFrame({"x": [2**62, 0, None]}).cast(kind)
        (batch,) = read_table(times, RunError).batches()
        assert batch.column(0).cells() == [str(2**62), "0", None]
        assert str(batch.column(0).cell(1)) == "1970-01-01 00:00:00"


def test_what_is_not_a_table(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="judgments: a dict is not a table; give a DataFrame of pan"):
        read_table({}, RunError, name="judgments")
    (tmp_path / "t.json").write_text('[{"a": 1}, 2]')
    table = read_table(tmp_path / "t.json", RunError)
    with pytest.raises(RunError, match=r"t\.json, row 2: not an object but 2"):
        list(table.batches())


@pytest.fixture
def without_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    for module in ("frame_tables", "packed_files"):
        find = f"pytest_rankcheck.files.{module}.find_spec"
        monkeypatch.setattr(find, lambda name: None if name == "polars" else find_spec(name))


@pytest.mark.usefixtures("without_polars")
def test_without_polars(tmp_path: Path) -> None:
    rows: Rows = [("q", 7, 0.5, "t"), ("r", 8, None, "")]
    for kind in ("pandas", "pandas arrow", "arrow", "arrow reader"):
        same(content(read_table(frame_of(rows, kind), RunError)), expected(rows))
    text = "".join(f"{','.join(map(str, row))}\n" for row in [HEADER, ("q", 7, 0.5, "t")])
    (tmp_path / "t.csv").write_text(text)
    same(content(read_table(tmp_path / "t.csv", RunError)), expected(rows[:1], 2))


def test_without_polars_parquet_files_are_refused(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    golden = GoldenSet.from_dict({"q": {"a": 2, "b": 0.5}})
    golden.save(tmp_path / "golden.parquet")
    request.getfixturevalue("without_polars")
    needs = "file; reading and writing it needs polars: pip install polars"
    with pytest.raises(GoldenSetError, match=f"golden.parquet is a Parquet {needs}"):
        GoldenSet.load(tmp_path / "golden.parquet")
    with pytest.raises(GoldenSetError, match=f"again.parquet is a Parquet {needs}"):
        golden.save(tmp_path / "again.parquet")


def test_parquet_cannot_hold_attributes_of_two_types(tmp_path: Path) -> None:
    mixed = pd.DataFrame({"query_id": ["q", "r"], "page": [1, ["a"]]})
    judged = pd.DataFrame({"query_id": ["q", "r"], "doc_id": ["a", "b"], "relevance": [1, 1]})
    with pytest.raises(
        GoldenSetError,
        match=r"cannot be written as a table; give each attribute values of one type",
    ):
        GoldenSet.from_frame(judged, mixed).save(tmp_path / "mixed.parquet")


def test_a_small_file_does_not_import_polars(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n')
    check = (
        "import sys; from pathlib import Path; import pandas as pd\n"
        "from pytest_rankcheck import RunError\n"
        "from pytest_rankcheck.files.tables import read_table\n"
        f"for source in (Path({str(tmp_path / 't.csv')!r}), Path({str(tmp_path / 't.jsonl')!r}),"
        " pd.DataFrame({'a': ['x']})):\n"
        "    for batch in read_table(source, RunError).batches():\n"
        "        batch.column(0).ids(), batch.column(0).numbers(), batch.column(0).coded()\n"
        "print('polars' in sys.modules)"
    )
    clean = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True, env=clean
    )
    assert done.stdout.strip() == "False"
