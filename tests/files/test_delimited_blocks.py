"""Large CSV files: polars and the row reader give the same rows, and name the same wrong line."""

from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet
from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files import packed_files
from pytest_rankcheck.files.tables import read_table

polars_columns = pytest.importorskip("pytest_rankcheck.files.polars_columns")  # needs polars

TEXTS = {
    "plain": "a,b\n1,x\n2,\n,z\n",
    "quoted": 'a,b\n1,"x, y"\n2,"say ""hi"""\n"",z\n',
    "quote inside a cell": 'a,b\n1,x"y\n2,z\n',
    "cell of several lines": 'a,b\n1,"x\ny"\n2,z\n3,w\n',
    "blank lines": "a,b\n\n1,x\n\n\n2,y\n",
    "Windows": "a,b\r\n1,x\r\n2,y\r\n",
    "spaces": "a, b\n1, x\n2, y\n",
    "semicolons": "a;b\n1;x,\n2;y\n",
    "one column": "a\n1\n2\n",
    "a mark in the middle": "a,b\n1,x\n\ufeff2,y\n",
    "only a header": "a,b\n",
    "no end of line": "a,b\n1,x\n2,y",
}
WRONG = {
    "too few": "a,b\n1,x\n2\n3,z\n",
    "too many": "a,b\n1,x\n2,y,3\n",
    "open": 'a,b\n1,x\n"2,y\n',
}


def rows_of(path: Path) -> list[object]:
    return [row for batch in read_table(path, RunError).batches() for row in batch.rows()]


def test_polars_and_the_row_reader_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    for name, text in {**TEXTS, **WRONG, "not UTF-8": "a,b\n1,x\n2,\udcff\n"}.items():
        path.write_bytes(text.encode(errors="surrogateescape"))
        found = []
        for least, block in ((1 << 30, 1), (0, 1), (0, 12), (0, 1 << 20)):
            monkeypatch.setattr(packed_files, "LARGE_FILE", least)
            monkeypatch.setattr(polars_columns, "_BLOCK", block)
            try:
                found.append(str(rows_of(path)))
            except RunError as error:
                found.append(str(error))
        assert len(set(found)) == 1, (name, found)
        assert (":3" in found[0]) == (name in {*WRONG, "not UTF-8"}), (name, found)


def test_judgments_may_begin_in_the_second_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g.csv"
    path.write_text("# by hand\nquery_id,doc_id,grade\nq,d,2\n")
    monkeypatch.setattr(packed_files, "LARGE_FILE", 0)
    monkeypatch.setattr(polars_columns, "_BLOCK", 1)
    assert GoldenSet.load(path).grades("q") == {"d": 2}
