"""Blocks of JSON lines that polars reads: the same as Python's, or left to Python."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("polars")

from pytest_rankcheck.files import json_blocks
from pytest_rankcheck.files.json_blocks import columns_of_block

KEYS = ["a", "b", "query id"]
VALUES = [
    *(
        '"x"',
        '""',
        '"é"',
        '"1"',
        '"null"',
        '"a, b"',
        '"[d1"',
        '"{"',
        '"x: y"',
        '"\\u00e9"',
        '"\\n"',
    ),
    *('"\\ud83d\\ude00"', '"\\ud800"', '"\\"b\\":"', '"\\\\"', "null", "true", "false"),
    *("1", "-0", "7", "1.5", "1.0", "1e400", "9223372036854775808", "0.1", "NaN", "01"),
    *('["x", "y"]', "[]", '[""]', '["x", 1]', "[null]", '[["x"]]', "[1]", '{"b": 1}', "{}"),
]
ROWS = st.lists(
    st.lists(
        st.tuples(st.sampled_from(KEYS), st.sampled_from(["", " "]), st.sampled_from(VALUES)),
        max_size=3,
    ),
    min_size=1,
    max_size=5,
)


def line_of(cells: list[tuple[str, str, str]], space: str = " ") -> str:
    return "{" + ", ".join(f'"{key}"{gap}:{space}{value}' for key, gap, value in cells) + "}"


def objects_of(block: bytes) -> list[object]:
    """Return the objects of a block in their order, as polars has them."""
    columns = columns_of_block(block)
    assert columns is not None
    rows: dict[int, object] = {}
    for numbers, frame in columns.layouts():
        rows |= dict(zip(numbers.tolist(), frame.to_dicts(), strict=True))
    return [rows[number] for number in sorted(rows)]


def parsed(block: bytes) -> list[object]:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs), "a duplicate key"
        return dict(pairs)

    return [json.loads(line, object_pairs_hook=unique) for line in block.splitlines()]


@settings(deadline=None, max_examples=300)
@given(rows=ROWS, space=st.sampled_from(["", " "]))
@example(rows=[[("a", "", '"x"'), ("a", "", '"y"')]], space=" ")
@example(rows=[[("a", "", "1"), ("a", "", "null")], [("b", "", "1")]], space=" ")
@example(rows=[[("a", "", '"x"')], [("a", "", '["x"]')]], space="")
@example(rows=[[("a", "", '["x"]')], [("a", "", '["x", 1]')]], space=" ")
@example(rows=[[("a", "", '"x"')], [("a", "", "5")]], space=" ")
@example(rows=[[("a", " ", "1"), ("a", "", "2")]], space="")
@example(rows=[[("a", "", "1")], [("a", "", "1"), ("a", "", "2")]], space=" ")
@example(rows=[[("a", "", '["x"]')], [("a", "", '[["x"]]')]], space=" ")
@example(rows=[[("a", "", '"x"')], [("a", "", '["y"]')]], space=" ")
@example(
    rows=[
        [("a", "", '"x"'), ("b", "", "1")],
        [("a", "", '"x"'), ("b", "", "1"), ("b", "", "2")],
        [("a", "", "5"), ("b", "", "1")],
    ],
    space=" ",
)
@example(rows=[[("a", "", '"x"')], [("b", "", '"y"')], [("a", "", "null")]], space=" ")
def test_what_polars_reads_is_what_python_reads(
    rows: list[list[tuple[str, str, str]]], space: str
) -> None:
    block = "".join(f"{line_of(cells, space)}\n" for cells in rows).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_blocks, "_SAMPLE", 1)  # so that later lines may be a surprise
        if columns_of_block(block) is not None:
            assert objects_of(block) == parsed(block)


@pytest.mark.parametrize(
    "lines",
    [
        ['{"a": "x", "b": 1, "c": ["d", "e"], "d": true, "e": 0.5}'] * 3,
        ['{"a":"x","b":[]}', '{"a":null,"b":["é"]}'],
        ['{"a": "x"}', '{"a": "y", "b": 1}', '{"b": 2}'],
        ['{"a": null}'] * 2,
        ['{"a": "\\u00e9 \\n"}'],
    ],
)
def test_ordinary_lines_are_read_by_polars(lines: list[str]) -> None:
    block = "".join(f"{line}\n" for line in lines).encode()
    assert objects_of(block) == parsed(block)


@pytest.mark.parametrize(
    "line",
    [
        *('{"a": "x", "a": "y"}', '{"a": 1}', '{"a": ["x"]}', '{"a": {"b": 1}}', '{"a" : "x"}'),
        *('{"a": "\\ud800"}', '{"a": "\\""}', "", "# note", "[1]", '{"a": NaN}', '{"a": "x"}}'),
        *('{"c": "x"}', '{"a": "x",}', '{"a": "\x01"}'),
    ],
)
def test_other_lines_are_left_to_python(line: str) -> None:
    lines = ['{"a": "x"}'] * 60
    assert columns_of_block("".join(f"{text}\n" for text in lines).encode()) is not None
    assert columns_of_block("".join(f"{text}\n" for text in [*lines, line]).encode()) is None
