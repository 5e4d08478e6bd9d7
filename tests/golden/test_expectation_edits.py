"""Edits of known failures change what they say, and no other byte of the file."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, GoldenSetError
from pytest_rankcheck.golden.expectation_edits import Edits, edited_file
from pytest_rankcheck.golden.expectation_entry import expectation_of

BOM = "\ufeff"


def edited(folder: Path, text: str, edits: Edits) -> str:
    file = folder / "g.jsonl"
    file.write_bytes(text.encode("utf-8"))
    made = edited_file(file, edits).decode("utf-8")
    assert file.read_bytes() == text.encode("utf-8"), "the file itself is not written"
    return made


def line(expect: str, rest: str = "") -> str:
    return f'{{"query_id": "q1", "expect": [{expect}]{rest}}}'


@pytest.mark.parametrize(
    ("before", "rank", "after"),
    [
        (
            '{"results": "some", "known_failure": "x"}',
            None,
            '{"results": "some"}',
        ),
        (
            '{"known_failure": "x", "results": "some"}',
            None,
            '{"results": "some"}',
        ),
        (
            '{"known_failure": "x", "known_rank": 4, "above": ["a", "b"]}',
            None,
            '{"above": ["a", "b"]}',
        ),
        (
            '{ "known_rank" :4 ,"above":["a","b"] ,  "known_failure":"x" , "reason":"y" }',
            None,
            '{ "above":["a","b"] , "reason":"y" }',
        ),
        (
            '{"above": ["a", "b"], "known_failure": "x"}',
            7,
            '{"above": ["a", "b"], "known_failure": "x", "known_rank": 7}',
        ),
        (
            '{"above":["a","b"],"known_failure":"x"}',
            7,
            '{"above":["a","b"],"known_failure":"x","known_rank":7}',
        ),
        (
            '{"known_failure" : "}, \\"known_rank\\": 3", "above":["a","b"]}',
            7,
            '{"known_failure" : "}, \\"known_rank\\": 3", "known_rank" : 7, "above":["a","b"]}',
        ),
        (
            '{"above": ["a", "b"], "known_rank": 12, "known_failure": "x"}',
            7,
            '{"above": ["a", "b"], "known_rank": 7, "known_failure": "x"}',
        ),
        (
            '{"above": ["a", "b"], "known\\u005ffailure": "\\u00e9 \u00e9"}',
            7,
            '{"above": ["a", "b"], "known\\u005ffailure": "\\u00e9 \u00e9", "known_rank": 7}',
        ),
    ],
)
def test_by_hand(tmp_path: Path, before: str, rank: int | None, after: str) -> None:
    rest = ', "x": [1.0, 1e3, "\\u00e9\u05d0", {"known_failure": "not here"}]'
    assert edited(tmp_path, line(before, rest), {"q1": {0: rank}}) == line(after, rest)


def test_only_the_named_expectation_of_the_named_query_changes(tmp_path: Path) -> None:
    mark = '{"results":"some","known_failure":"x"}'
    other = '{"above":["a","b"],"known_failure":"x"}'
    text = (
        BOM
        + '# \u0391 "expect"\r\n'
        "\n"
        f'{{"query_id":1,"expect":[{mark},{other} , {mark}]}}\r\n'
        f'  {{"query_id":"q1",  "expect":[{mark}]}}  \n'
        '{"query_id":"q2","expect":"a text"'.replace('"a text"', '[{"results":"none"}]}')
        + "\n"
        "\f \n"
        f'{{"expect":[{other}],"query_id":"q3"}}'
    )
    made = edited(tmp_path, text, {"1": {0: None}, "q3": {0: 5}})
    # Equal expectations are one, so both lose their mark; and the file still has no line end.
    assert made == text.replace(
        f"[{mark},{other} , {mark}]", f'[{{"results":"some"}},{other} , {{"results":"some"}}]'
    ).replace(f'[{other}],"query_id":"q3"', f'[{other[:-1]},"known_rank":5}}],"query_id":"q3"')


def test_no_edit_changes_no_byte(tmp_path: Path) -> None:
    text = BOM + line('{"results": "some", "known_failure": "x"}') + "\r\n\r\n"
    assert edited(tmp_path, text, {}) == text
    assert edited(tmp_path, "", {}) == ""


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "g.jsonl.gz"
    file.write_bytes(gzip.compress(line('{"results": "some", "known_failure": "x"}').encode()))
    assert edited_file(file, {"q1": {0: None}}).decode() == line('{"results": "some"}')


@pytest.mark.parametrize(
    ("text", "edits", "message"),
    [
        (line('{"results": "some"}'), {"q9": {0: None}}, "no such known failure for query 'q9'"),
        (line('{"results": "some"}'), {"q1": {1: None}}, "no such known failure for query 'q1'"),
        (line('{"results": "some"}'), {"q1": {0: None}}, "no such known failure for query 'q1'"),
        (line('{"results": "some"'), {"q1": {0: None}}, r"g\.jsonl:1: not JSON"),
        ("q1 0 d1 1\n", {"q1": {0: None}}, "no such known failure for query 'q1'"),
    ],
)
def test_edits_of_other_expectations_are_refused(
    tmp_path: Path, text: str, edits: Edits, message: str
) -> None:
    with pytest.raises(GoldenSetError, match=message):
        edited(tmp_path, text, edits)


texts = st.text(min_size=1, max_size=8).filter(str.strip)
expectations = st.fixed_dictionaries(
    {"above": st.just(["a", "b"]) | st.just(["\u05d0", "}"])},
    optional={
        "reason": texts,
        "known_failure": texts,
        "severity": st.sampled_from(["warn", "error"]),
    },
)
marked = expectations.map(
    lambda entry: (
        {**entry, "known_rank": 9} if len(entry) == 4 and "known_failure" in entry else entry
    )
)


@given(
    entries=st.lists(marked, min_size=1, max_size=4, unique_by=partial(expectation_of, "q1")),
    shuffled=st.randoms(use_true_random=False),
    separators=st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", " : ")]),
    is_ascii=st.booleans(),
    rank=st.none() | st.integers(1, 500),
)
def test_an_edit_equals_parsing_and_changing(
    tmp_path_factory: pytest.TempPathFactory,
    entries: list[dict[str, object]],
    shuffled: object,
    separators: tuple[str, str],
    is_ascii: bool,
    rank: int | None,
) -> None:
    """Compared with the json module, which loses the spelling but not the values."""
    ordered = []
    for entry in entries:
        keys = list(entry)
        shuffled.shuffle(keys)  # type: ignore[attr-defined]
        ordered.append({key: entry[key] for key in keys})
    whole = {"query": "x", "expect": ordered, "query_id": "q1", "n": 1.50}
    text = json.dumps(whole, ensure_ascii=is_ascii, separators=separators)
    places = {place: rank for place, entry in enumerate(entries) if "known_failure" in entry}
    made = edited(tmp_path_factory.mktemp("g"), text, {"q1": places} if places else {})
    for place in places:
        if rank is None:
            ordered[place].pop("known_failure")
            ordered[place].pop("known_rank", None)
        else:
            ordered[place]["known_rank"] = rank
    assert json.loads(made) == whole
    assert made.endswith(text[text.rindex("]") :])


def test_edits_fit_the_order_of_a_loaded_golden_set(tmp_path: Path) -> None:
    file = tmp_path / "g.jsonl"
    entries = [
        {"results": "some"},
        {"above": ["a", "b"], "known_failure": "x"},
        {"results": "some"},
        {"above": ["b", "c"], "known_failure": "y"},
    ]
    file.write_text(json.dumps({"query_id": "q1", "expect": entries}))
    golden = GoldenSet.load(file)
    place = [each.known_failure for each in golden.expectations].index("y")
    file.write_bytes(edited_file(file, {"q1": {place: 8}}))
    assert [each.known_rank for each in GoldenSet.load(file).expectations] == [None, None, 8]
