"""Large JSON lines: polars and the row reader give the same values, and name the same wrong line."""

import json
from pathlib import Path

import pytest

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files import json_files, packed_files
from pytest_rankcheck.files.tables import read_table

polars_columns = pytest.importorskip("pytest_rankcheck.files.polars_columns")  # needs polars

ORDINARY = {
    "types": '{"t": "x", "i": -0, "f": 1.5, "b": true, "l": ["a", "b"]}\n'
    '{"t": null, "i": 12, "f": 0.1, "b": false, "l": []}\n',
    "no spaces": '{"a":"x,y","b":1}\n{"a":"\\u00e9 }","b":null}\n',
    "another order and fewer keys": '{"a":1,"b":2}\n{"b":3,"a":4}\n{"b":5}\n{"a":6,"b":7}\n',
    "all digits": "".join(f'{{"a":{0.1 * place!r}}}\n' for place in range(1, 300)),
    "odd keys": '{"":1,"a b":2,"a:b":3,"(?:.":4}\n',
    "no end of line": '{"a":1}\n{"a":2}',
}
UNUSUAL = {
    "the same value twice": '{"a":1}\n{"a":2,"a":2}\n',
    "a new key": '{"a":1}\n' * 101 + '{"a":2,"b":3}\n',
    "another type": '{"a":1}\n' * 101 + '{"a":"x"}\n',
    "a fraction": '{"a":1}\n' * 102 + '{"a":1.5}\n',
    "long numbers": '{"a":123456789012345678901}\n{"a":1}\n',
    "exponent": '{"a":1.5}\n{"a":1e300}\n',
    "quotes": '{"a":"\\"b\\":"}\n{"a":":"}\n',
    "surrogates": '{"a":"\\ud83d\\ude00"}\n{"a":"\\ud83d"}\n',
    "objects and lists": '{"a":{"b":[1,{"c":2}]},"d":[1,2]}\n',
    "lists of anything": '{"a":["x"]}\n{"a":[null]}\n{"a":[["x"]]}\n',
    "blank lines, comments": '# x\n{"a":1}\n\n  \n{"a":2}\n',
    "Windows": '{"a":1}\r\n{"a":2}\r\n',
    "spaces": ' {"a" : 1}\n{"a":2}  \n',
}
WRONG = {
    "two values": '{"a":1}\n{"a":2,"a":3}\n{"a":4}\n',
    "two objects, and one in two lines": '{"a":[1]}\n{"a":[2]},{"a":[3]}\n{"a":[{}\n{}]}\n',
    "comma at the end": '{"a":1}\n{"a":2,}\n',
    "no brace": '{"a":1}\n{"a":2\n',
    "no object": '{"a":1}\n["a"]\n',
    "NaN": '{"a":1.5}\n{"a":NaN}\n',
    "leading zero": '{"a":1}\n{"a":01}\n',
    "line feed": '{"a":"x"}\n{"a":"x\ty"}\n',
    "not UTF-8": '{"a":"x"}\n{"a":"\udcff"}\n',
}


def objects_of(path: Path) -> str:
    rows = [
        (number, json.dumps(dict(zip(batch.header, cells, strict=True)), sort_keys=True))
        for batch in read_table(path, RunError).batches()
        for number, cells in batch.rows()
    ]
    return str(sorted(rows))


def test_polars_and_the_row_reader_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, blocks = tmp_path / "t.jsonl", []

    def layouts_of_block(first: int, block: bytes) -> object:
        blocks.append(found := original(first, block))
        return found

    original = polars_columns.layouts_of_block
    monkeypatch.setattr(polars_columns, "layouts_of_block", layouts_of_block)
    for name, text in {**ORDINARY, **UNUSUAL, **WRONG}.items():
        path.write_bytes(text.encode(errors="surrogateescape"))
        found = []
        for least, block in ((1 << 30, 1 << 20), (0, 1), (0, 12), (0, 1 << 20)):
            monkeypatch.setattr(packed_files, "LARGE_FILE", least)
            monkeypatch.setattr(json_files, "_BLOCK", block)
            try:
                found.append(objects_of(path))
            except RunError as error:
                found.append(str(error))
        assert len(set(found)) == 1, (name, found)
        assert ("jsonl:2" in found[0]) == (name in WRONG), (name, found)
        assert (blocks[-1] is None) == (name not in ORDINARY), name
    for empty in (b"{}\n{}\n", b"{,}\n"):
        assert polars_columns.layouts_of_block(1, empty) is None
