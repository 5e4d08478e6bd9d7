"""The files of golden sets: reading, writing, and invalid files of every kind."""

from __future__ import annotations

import codecs
import json
import math
import re
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, GoldenSetError
from pytest_rankcheck.golden.golden_files import GOLDEN_FORMATS
from tests.examples import examples

LINES = [
    '{"query_id": "q1", "query": "red shoes", "relevance": {"d3": 2, "d7": 0}, "locale": "en"}',
    '{"query_id": "q2", "relevance": {"d1": 1}}',
]
QRELS = "q1 0 d3 2\nq1 0 d7 0\nq2 0 d1 1\n"

SAME = {"q1": {"d3": 2, "d7": 0}, "q2": {"d1": 1}}


def contents(golden: GoldenSet) -> list[tuple[object, ...]]:
    """Return the contents of a golden set, without its name."""
    return [
        (query.id, query.text, dict(query.attributes), dict(golden.grades(query.id)))
        for query in golden
    ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "web.golden"


def test_the_format_is_detected(file: Path) -> None:
    file.write_text("\n".join(LINES))
    golden = GoldenSet.load(file)
    assert golden.name == "web"
    assert {query: dict(golden.grades(query)) for query in golden.query_ids} == SAME
    assert golden.query("q1").text == "red shoes"
    assert golden.query("q1").attributes == {"locale": "en"}
    file.write_text("# comment first\n\n" + QRELS)
    golden = GoldenSet.load(str(file), name="another")
    assert golden.name == "another"
    assert {query: dict(golden.grades(query)) for query in golden.query_ids} == SAME


@pytest.mark.parametrize(
    ("text", "format"),
    [(QRELS, "trec"), ("\n".join(LINES), "jsonl")],
)
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n  \n# the end\n"])
def test_byte_order_mark_line_ends_blank_lines_and_comments_do_not_matter(
    file: Path, text: str, format: str, bom: bytes, newline: str, end: str
) -> None:
    file.write_bytes(bom + (text.strip() + end).replace("\n", newline).encode())
    for named in (None, format):
        golden = GoldenSet.load(file, named)
        assert {query: dict(golden.grades(query)) for query in golden.query_ids} == SAME


@pytest.mark.parametrize(
    "line",
    [
        "q1\t0\td3\t2",
        "q1   0  d3 \t 2",
        "  q1 0 d3 2  ",
        "q1 Q0 d3 +2",
        "q1 0 d3 2.0",
        "q1 0 d3 2e0",
    ],
)
def test_the_columns_of_qrels_are_separated_by_any_white_space(file: Path, line: str) -> None:
    file.write_text(line)
    assert GoldenSet.load(file).grades("q1") == {"d3": 2}


def test_a_no_break_space_is_part_of_an_id(file: Path) -> None:
    file.write_text("q\u00a01 0 d\u20283 2\nq\u00a01 0 #d 1\n", encoding="utf-8")
    golden = GoldenSet.load(file)
    assert golden.grades("q\u00a01") == {"d\u20283": 2, "#d": 1}


# --- invalid input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("q1 0 d3 2\nq1 0 d3\n", 2, "3 columns, not 4: 'q1 0 d3'; a line of qrels is"),
        ("q1 0 d3 2\nq1 0 d3 2 5\n", 2, "5 columns, not 4"),
        ("# c\n\nq1 0 d3 high\n", 3, r"the grade of document 'd3' is 'high' \(str\)"),
        ("q1 0 d3 nan\n", 1, "not a finite number"),
        ("q1 0 d3 inf\n", 1, "not a finite number"),
        ("q1 0 d3 1_0\n", 1, "not a finite number"),
        ("q1 0 d3 2\nq1 0 d7 1\nq1 0 d3 1\n", 3, "'d3' of query 'q1' is judged twice, 2 and 1"),
    ],
)
def test_a_malformed_line_of_qrels_is_reported(
    file: Path, text: str, line: int, message: str
) -> None:
    file.write_text(text)
    with pytest.raises(GoldenSetError, match=message) as failure:
        GoldenSet.load(file)
    assert str(failure.value).startswith(f"{file}:{line}: ")


GOOD = '{"query_id": "q0", "relevance": {"d": 1}}\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON: .*; each line is one object"),
        ("q1 0 d3 2", "not JSON"),
        ("[1]", "not an object but"),
        ('"text"', "not an object but"),
        ("{}", 'no "query_id"'),
        ('{"queryid": "q1"}', "no \"query_id\"; is 'queryid' misspelt"),
        ('{"query_id": ""}', '"query_id" is empty, not an id'),
        ('{"query_id": null}', '"query_id" is empty, not an id'),
        ('{"query_id": 1.5}', 'the number 1.5, not an id; write it as text, "1.5"$'),
        ('{"query_id": true}', r"'True' \(bool\), not an id"),
        ('{"query_id": ["q"]}', "not an id"),
        ('{"query_id": "q", "query": 5}', '"query" is 5, not text'),
        ('{"query_id": "q", "relevance": ["d"]}', '"relevance" is not an object'),
        ('{"query_id": "q", "relevance": {"": 1}}', "a document id is empty"),
        ('{"query_id": "q", "relevance": {"d": "x"}}', r"the grade of document 'd' is 'x' \(str\)"),
        ('{"query_id": "q", "relevance": {"d": []}}', r"'\[\]' \(list\), not a finite number"),
        ('{"query_id": "q", "relevance": {"d": null}}', "the grade of document 'd' is empty"),
        ('{"query_id": "q", "relevance": {"d": NaN}}', "NaN is not a finite number"),
        ('{"query_id": "q", "relevance": {"d": -Infinity}}', "-Infinity is not a finite number"),
        ('{"query_id": "q", "relevance": {"d": 1e999}}', "not a finite number"),
        (
            '{"query_id": "q", "relevance": {"d": 1, "d": 2}}',
            "duplicate key 'd', with the values 1 and 2",
        ),
        ('{"query_id": "q", "a": 1, "a": 2}', "duplicate key 'a'"),
        ('{"query_id": "q0", "relevance": {"d": 1}}', "duplicate query 'q0'"),
        ('{"query_id": "q", "x": ' + "[" * 100_000 + "}", "not JSON"),
        ('{"query_id": "q", "relevance": {"d": ' + "9" * 5000 + "}}", "not JSON|not a finite"),
    ],
)
def test_a_malformed_line_of_jsonl_is_reported(file: Path, line: str, message: str) -> None:
    file.write_text(GOOD + "\n" + line + "\n")
    with pytest.raises(GoldenSetError, match=message) as failure:
        GoldenSet.load(file)
    assert str(failure.value).startswith(f"{file}:3: ")
    assert len(str(failure.value)) < 1000


@pytest.mark.parametrize(
    ("line", "key", "wanted"),
    [
        ('{"query_id": "q2", "relevence": {"a": 1}}', "relevence", "relevance"),
        ('{"query_id": "q2", "relevence": ["a"]}', "relevence", "relevance"),
        ('{"query_id": "q2", "judgments": {"a": 1, "b": 0.5}}', "judgments", "relevance"),
        ('{"query_id": "q2", "ratings": {"a": 1}}', "ratings", "relevance"),
        ('{"query_id": "q2", "qeury": "shoes", "relevance": {}}', "qeury", "query"),
        ('{"query_id": "q2", "text": "shoes", "relevance": {}}', "text", "query"),
    ],
)
def test_a_misspelt_key_is_not_an_attribute(file: Path, line: str, key: str, wanted: str) -> None:
    first = '{"query_id": "q1", "query": "hats", "relevance": {"a": 1}, "ratings_of": {"x": 1}}'
    file.write_text(f"{first}\n{line}\n")
    with pytest.raises(GoldenSetError) as failure:
        GoldenSet.load(file)
    assert str(failure.value).startswith(
        f'{file}:2: no "{wanted}"; did you mean it by "{key}"? Rename the key'
    )
    nothing = "{}" if wanted == "relevance" else "null"
    file.write_text(f'{first}\n{line[:-1]}, "{wanted}": {nothing}}}\n')
    golden = GoldenSet.load(file)
    assert key in golden.query("q2").attributes
    golden.save(file, "jsonl")
    assert GoldenSet.load(file).query("q2").attributes == golden.query("q2").attributes


def test_a_key_that_other_lines_have_beside_the_text_is_an_attribute(file: Path) -> None:
    file.write_text(
        '{"query_id": "q1", "query": "hats", "text": "long"}\n{"query_id": "q2", "text": "x"}\n'
    )
    assert GoldenSet.load(file).query("q2").attributes == {"text": "x"}
    file.write_text('{"query_id": "q1", "text": "long"}\n{"query_id": "q2", "text": "x"}\n')
    assert GoldenSet.load(file).query("q2").text is None
    file.write_text(
        '{"query_id": "q1", "flags": {"new": true}, "shop": {"a": "b"}, "reference": 1}'
    )
    assert len(GoldenSet.load(file).attributes) == 3


def test_a_repeated_judgment_is_not_a_contradiction(file: Path) -> None:
    file.write_text("q1 0 d3 2\nq1 0 d3 2.0\n")
    assert GoldenSet.load(file).judgment_count == 1
    file.write_text('{"query_id": "q", "relevance": {"d": 1, "d": 1}}')
    assert GoldenSet.load(file).judgment_count == 1


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "\ufeff"])
@pytest.mark.parametrize("format", [None, "jsonl", "trec"])
def test_an_empty_file_is_refused(file: Path, text: str, format: str | None) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(GoldenSetError, match=r"web.golden is empty"):
        GoldenSet.load(file, format)


@pytest.mark.parametrize("format", [None, "jsonl", "trec"])
def test_a_missing_file_is_refused(file: Path, format: str | None) -> None:
    with pytest.raises(GoldenSetError, match=r"web.golden: no such file"):
        GoldenSet.load(file, format)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GoldenSetError, match="is a folder; name a file in it"):
        GoldenSet.load(tmp_path)


def test_bytes_that_are_not_utf8_are_reported_with_their_line(file: Path) -> None:
    file.write_bytes("q1 0 d1 1\nq1 0 caf\u00e9 1\n".encode("latin-1"))
    with pytest.raises(GoldenSetError, match=r"web.golden:2: byte 9 is not UTF-8; save the file"):
        GoldenSet.load(file)


def test_an_unknown_format_is_refused(file: Path) -> None:
    file.write_text("who,what,much\n")
    with pytest.raises(
        GoldenSetError, match=r"web.golden:1: unknown format of golden sets"
    ) as failure:
        GoldenSet.load(file)
    assert "jsonl: " in str(failure.value)
    assert "trec: " in str(failure.value)
    with pytest.raises(GoldenSetError, match=r"unknown format 'json' of golden sets; did you mean"):
        GoldenSet.load(file, "json")
    with pytest.raises(GoldenSetError, match=r"known formats: .*jsonl.*trec"):
        GoldenSet.from_dict(SAME).save(file, "xml")


def test_two_formats_are_registered_with_a_description() -> None:
    assert set(GOLDEN_FORMATS.by_name) >= {"jsonl", "trec"}
    assert all(known.description for known in GOLDEN_FORMATS.by_name.values())


# --- the queries beside qrels --------------------------------------------------------------------


def test_texts_and_attributes_come_from_the_file_beside_the_qrels(tmp_path: Path) -> None:
    (tmp_path / "web.qrels").write_text(QRELS)
    (tmp_path / "web.queries.tsv").write_text(
        'query_id\tquery\tlocale\nq1\tred shoes\ten\nq2\t"says ""hat"""\t\nq3\tno judgment\tde\n'
    )
    golden = GoldenSet.load(tmp_path / "web.qrels")
    assert contents(golden) == [
        ("q1", "red shoes", {"locale": "en"}, {"d3": 2, "d7": 0}),
        ("q2", 'says "hat"', {}, {"d1": 1}),
        ("q3", "no judgment", {"locale": "de"}, {}),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("query_id\tquery\nq1\n", 2, "1 column, but the header has 2"),
        ("query_id\tquery\nq1\ta\tb\n", 2, "3 columns, but the header has 2"),
        ("query_id\tquery\n\ta\n", 2, "query_id is empty"),
        ("query_id\tquery\nq1\ta\nq1\tb\n", 3, "duplicate query 'q1'"),
        ('query_id\tquery\nq1\t"a"b\n', 2, "expected after"),
    ],
)
def test_a_malformed_file_of_queries_is_reported(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    (tmp_path / "web.qrels").write_text(QRELS)
    beside = tmp_path / "web.queries.tsv"
    beside.write_text(text)
    with pytest.raises(GoldenSetError, match=message) as failure:
        GoldenSet.load(tmp_path / "web.qrels")
    assert str(failure.value).startswith(f"{beside}:{line}: ")


def test_queries_beside_qrels_need_ids_but_no_texts(tmp_path: Path) -> None:
    (tmp_path / "web.qrels").write_text(QRELS)
    beside = tmp_path / "web.queries.tsv"
    beside.write_text("locale\tqid\nen\tq1\nde\tq3\n")
    golden = GoldenSet.load(tmp_path / "web.qrels")
    assert contents(golden)[2] == ("q3", None, {"locale": "de"}, {})
    assert golden.query("q1").attributes == {"locale": "en"}
    for header, message in {
        "id\tquery": "has no column 'query_id'. Is 'id' misspelt? Its columns are id, query",
        "query_id\tqurey": "has no column 'query'. Is 'qurey' misspelt?",
    }.items():
        beside.write_text(f"{header}\n")
        with pytest.raises(GoldenSetError, match=re.escape(f"{beside} {message}")):
            GoldenSet.load(tmp_path / "web.qrels")


# --- writing -------------------------------------------------------------------------------------


def test_the_ending_chooses_the_format(tmp_path: Path) -> None:
    golden = GoldenSet.from_dict(SAME)
    for name, is_json in (
        ("a.jsonl", True),
        ("a.golden", True),
        ("a.qrels", False),
        ("a.txt", False),
    ):
        golden.save(tmp_path / name)
        assert (tmp_path / name).read_text().startswith("{") is is_json
        assert GoldenSet.load(tmp_path / name).fingerprint == golden.fingerprint
    golden.save(tmp_path / "a.txt", "jsonl")
    assert (tmp_path / "a.txt").read_text().startswith("{")


def test_our_own_format_is_readable(tmp_path: Path) -> None:
    file = tmp_path / "web.jsonl"
    GoldenSet.from_dict(
        {"q1": {"d3": 2, "d7": 0.5}},
        {"q1": "rote Schuhe für Käse"},
        attributes={"q1": {"head": True}},
    ).save(file)
    assert file.read_text(encoding="utf-8") == (
        '{"query_id": "q1", "query": "rote Schuhe für Käse", '
        '"relevance": {"d3": 2, "d7": 0.5}, "head": true}\n'
    )


def test_qrels_without_texts_have_no_file_of_queries_beside_them(tmp_path: Path) -> None:
    GoldenSet.from_dict(SAME).save(tmp_path / "web.qrels")
    assert [found.name for found in tmp_path.iterdir()] == ["web.qrels"]
    assert (tmp_path / "web.qrels").read_text() == QRELS


def test_qrels_without_texts_do_not_inherit_the_queries_of_an_older_set(tmp_path: Path) -> None:
    GoldenSet.from_dict(SAME, {"q1": "old text"}).save(tmp_path / "web.qrels")
    GoldenSet.from_dict(SAME).save(tmp_path / "web.qrels")
    assert GoldenSet.load(tmp_path / "web.qrels").query("q1").text is None


@pytest.mark.parametrize("bad", ["a b", "a\tb", "a\nb", "a\rb", "a\x0bb", "a\x0cb"])
def test_an_id_with_white_space_is_refused_by_trec_and_kept_by_jsonl(
    tmp_path: Path, bad: str
) -> None:
    for judged in ({bad: {"d": 1}}, {"q": {bad: 1}}):
        golden = GoldenSet.from_dict(judged)
        with pytest.raises(GoldenSetError, match="cannot be an id in TREC files"):
            golden.save(tmp_path / "web.qrels")
        assert not (tmp_path / "web.qrels").exists()
        golden.save(tmp_path / "web.jsonl")
        assert contents(GoldenSet.load(tmp_path / "web.jsonl")) == contents(golden)


def test_an_id_that_looks_like_a_comment_is_refused_by_trec(tmp_path: Path) -> None:
    with pytest.raises(GoldenSetError, match="cannot be an id in TREC files"):
        GoldenSet.from_dict({"#q": {"d": 1}}).save(tmp_path / "web.qrels")


@pytest.mark.parametrize("name", ["query_id", "query", "relevance"])
def test_an_attribute_with_a_reserved_name_is_refused(tmp_path: Path, name: str) -> None:
    golden = GoldenSet.from_dict({"q": {"d": 1}}, attributes={"q": {name: 1}})
    with pytest.raises(GoldenSetError, match=f"an attribute named '{name}'"):
        golden.save(tmp_path / "web.jsonl")


def test_an_attribute_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    golden = GoldenSet.from_dict({"q": {"d": 1}}, attributes={"q": {"x": math.inf}})
    with pytest.raises(GoldenSetError, match="query 'q' has an infinite attribute, which"):
        golden.save(tmp_path / "web.jsonl")


def test_a_refused_save_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "web.qrels"
    GoldenSet.from_dict(SAME).save(file)
    with pytest.raises(GoldenSetError):
        GoldenSet.from_dict({"a b": {"d": 1}}).save(file)
    assert file.read_text() == QRELS
    assert [found.name for found in tmp_path.iterdir()] == ["web.qrels"]


# --- round trips of anything -------------------------------------------------------------------

NASTY = st.sampled_from(
    [
        "\u2028",
        "\u2029",
        "\x85",
        "\xa0",
        "\ufeff",
        "\ud800",
        '"',
        "'",
        "\t",
        "\x00",
        "\x1b[2J",
        "#",
        "\u202e",
        "\r",
        "\n",
        "\\",
        "{",
        " ",
        "\x1c",
        "\x0c",
        "🙂",
        "é",
        "e\u0301",
        "0",
        "nan",
    ]
)
texts = st.lists(st.one_of(NASTY, st.text(max_size=3)), min_size=1, max_size=5).map("".join)
any_text = texts.filter(bool)
grades = st.one_of(st.integers(-3, 5), st.floats(-1e6, 1e6))
json_values = st.one_of(texts, st.integers(-5, 5), st.booleans(), st.lists(texts, max_size=2))
attribute_names = any_text.filter(lambda name: name not in {"query_id", "query", "relevance"})


@st.composite
def golden_sets(
    draw: st.DrawFn,
    ids: st.SearchStrategy[str] = any_text,
    text: st.SearchStrategy[str] = texts,
    values: st.SearchStrategy[object] = json_values,
    names: st.SearchStrategy[str] = attribute_names,
) -> GoldenSet:
    judged = draw(
        st.dictionaries(ids, st.dictionaries(ids, grades, max_size=3), min_size=1, max_size=3)
    )
    words = {query: draw(text) for query in judged if draw(st.booleans())}
    given = {query: draw(st.dictionaries(names, values, max_size=2)) for query in judged}
    return GoldenSet.from_dict(judged, words, attributes=given)


@examples(200)
@given(golden_sets())
def test_a_set_survives_saving_and_loading_as_jsonl(golden: GoldenSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "set.jsonl"
        golden.save(file)
        again = GoldenSet.load(file)
        assert contents(again) == contents(golden)
        assert again.fingerprint == golden.fingerprint
        lines = file.read_text(encoding="utf-8").split("\n")
        assert len(lines) == len(golden) + 1
        assert all(json.loads(line) for line in lines[:-1])


SPACE = set(" \t\n\r\x0b\x0c")
encodable = any_text.filter(lambda text: not any(0xD800 <= ord(char) < 0xE000 for char in text))
trec_ids = encodable.filter(lambda text: not SPACE & set(text) and text[0] not in "#\ufeff{")
said = encodable  # a table cannot tell an empty text from a missing one


@examples(200)
@given(
    golden_sets(trec_ids, said, said, encodable.filter(lambda n: n not in {"query_id", "query"}))
)
def test_a_set_survives_saving_and_loading_as_trec(golden: GoldenSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "set.qrels"
        golden.save(file)
        if not file.read_text():
            return  # nothing is judged: there are no qrels to read
        again = GoldenSet.load(file, "trec")
        key = lambda row: row[0]  # noqa: E731 - qrels cannot say where a query without judgments stood
        assert sorted(contents(again), key=key) == sorted(contents(golden), key=key)
        assert again.fingerprint == golden.fingerprint


@pytest.mark.parametrize("format", ["jsonl", "trec"])
def test_lone_surrogates_are_kept_or_refused_but_never_lose_the_file(
    tmp_path: Path, format: str
) -> None:
    file = tmp_path / "set"
    golden = GoldenSet.from_dict({"q\ud800": {"d": 1}})
    if format == "jsonl":
        golden.save(file, format)
        assert GoldenSet.load(file).query_ids == ("q\ud800",)
        return
    with pytest.raises(GoldenSetError, match="cannot"):
        golden.save(file, format)
    assert not list(tmp_path.iterdir())


def test_the_columns_of_queries_beside_qrels_cannot_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "y.qrels").write_text("1 0 a 1\n")
    (tmp_path / "y.queries.tsv").write_text("key\tquery\n1\tred shoes\n")
    with pytest.raises(GoldenSetError) as failure:
        GoldenSet.load(tmp_path / "y.qrels")
    assert str(failure.value).endswith(". Name a column query_id; if the header is missing, add it")
    (tmp_path / "y.queries.tsv").write_text("query_id\tqurey\n1\tred shoes\n")
    with pytest.raises(GoldenSetError, match=r"\. Name a column query; if the header is missing"):
        GoldenSet.load(tmp_path / "y.qrels")


@pytest.mark.parametrize("format", ["csv", "tsv", "trec"])
def test_text_formats_refuse_lists(tmp_path: Path, format: str) -> None:
    """They would be read as text, so the slices of the items would be gone."""
    golden = GoldenSet.from_dict(
        {"q1": {"a": 1}, "q2": {"b": 1}}, attributes={"q1": {"tag": ["new", "de"]}}
    )
    file = tmp_path / "golden"
    with pytest.raises(
        GoldenSetError, match=f"'tag' has lists, which {format} cannot hold; save as jsonl or parq"
    ):
        golden.save(file, format)
    assert not file.exists()
    golden.save(file, "jsonl")
    assert GoldenSet.load(file).slices("tag") == golden.slices("tag")
    golden.subset(["q2"]).save(file, format)


def test_text_formats_refuse_lists_in_candidates(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0]})
    frame["tags"] = [["x", "y"], ["z"]]
    golden = GoldenSet.from_frame(frame)
    with pytest.raises(
        GoldenSetError, match=r"'tags' has lists, which csv cannot hold; .* parquet"
    ):
        golden.save(tmp_path / "golden.csv")
    pytest.importorskip("polars")
    golden.save(tmp_path / "golden.parquet")
    assert GoldenSet.load(tmp_path / "golden.parquet").fingerprint == golden.fingerprint
