"""The files of golden sets: reading, writing, and invalid files of every kind."""

import json
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, GoldenSetError
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


def test_a_no_break_space_is_part_of_an_id(file: Path) -> None:
    file.write_text("q\u00a01 0 d\u20283 2\nq\u00a01 0 #d 1\n", encoding="utf-8")
    golden = GoldenSet.load(file)
    assert golden.grades("q\u00a01") == {"d\u20283": 2, "#d": 1}


# --- invalid input -----------------------------------------------------------------------------


def test_a_malformed_line_of_qrels_is_reported(file: Path) -> None:
    for text, line, message in (
        ("q1 0 d3 2\nq1 0 d3\n", 2, "3 columns, not 4: 'q1 0 d3'; a line of qrels is"),
        ("q1 0 d3 2\nq1 0 d3 2 5\n", 2, "5 columns, not 4"),
        ("# c\n\nq1 0 d3 high\n", 3, "the grade of document 'd3' is 'high' (str)"),
        ("q1 0 d3 nan\n", 1, "not a finite number"),
        ("q1 0 d3 1_0\n", 1, "not a finite number"),
        ("q1 0 d3 2\nq1 0 d7 1\nq1 0 d3 1\n", 3, "'d3' of query 'q1' is judged twice, 2 and 1"),
    ):
        file.write_text(text)
        with pytest.raises(GoldenSetError, match=re.escape(message)) as failure:
            GoldenSet.load(file)
        assert str(failure.value).startswith(f"{file}:{line}: ")


GOOD = '{"query_id": "q0", "relevance": {"d": 1}}\n'


MALFORMED = [
    ("{", "not JSON: .*; each line or file is one value"),
    ("q1 0 d3 2", "not JSON"),
    ("[1]", "not an object but"),
    ("{}", 'no "query_id"'),
    ('{"queryid": "q1"}', "no \"query_id\"; is 'queryid' misspelt"),
    ('{"query_id": ""}', '"query_id" is empty, not an id'),
    ('{"query_id": 1.5}', r"'1.5' \(float\), not an id; ids are text or whole numbers"),
    ('{"query_id": true}', r"'True' \(bool\), not an id"),
    ('{"query_id": ["q"]}', "not an id"),
    ('{"query_id": "q", "query": 5}', '"query" is 5, not text'),
    (
        '{"query_id": "q", "relevance": ["d"]}',
        '"relevance" is not an object.*the key is "relevant"',
    ),
    ('{"query": "x", "docs": ["d"]}', 'no "query_id"; its keys are query, docs. Say'),
    ('{"query_id": "q", "relevance": {"": 1}}', "a document id is empty"),
    ('{"query_id": "q", "relevance": {"d": "x"}}', r"the grade of document 'd' is 'x' \(str\)"),
    ('{"query_id": "q", "relevance": {"d": []}}', r"'\[\]' \(list\), not a finite number"),
    ('{"query_id": "q", "relevance": {"d": NaN}}', "NaN is not a finite number"),
    ('{"query_id": "q", "relevance": {"d": 1e999}}', "not a finite number"),
    (
        '{"query_id": "q", "relevance": {"d": 1, "d": 2}}',
        "duplicate key 'd', with the values 1 and 2",
    ),
    ('{"query_id": "q", "a": 1, "a": 2}', "duplicate key 'a'"),
    ('{"query_id": "q0", "relevance": {"d": 1}}', "duplicate query 'q0'"),
    ('{"query_id": "q", "x": ' + "[" * 100_000 + "}", "nested more than 100 deep"),
    ('{"query_id": "q", "relevance": {"d": ' + "9" * 5000 + "}}", "not JSON|not a finite"),
]


def test_a_malformed_line_of_jsonl_is_reported(file: Path) -> None:
    for line, message in MALFORMED:
        file.write_text(GOOD + "\n" + line + "\n")
        with pytest.raises(GoldenSetError, match=message) as failure:
            GoldenSet.load(file)
        assert str(failure.value).startswith(f"{file}:3: ")
        assert len(str(failure.value)) < 1000


def test_a_misspelt_key_is_not_an_attribute(file: Path) -> None:
    for line, key, wanted in (
        ('{"query_id": "q2", "relevence": {"a": 1}}', "relevence", "relevance"),
        ('{"query_id": "q2", "relevence": ["a"]}', "relevence", "relevance"),
        ('{"query_id": "q2", "judgments": {"a": 1, "b": 0.5}}', "judgments", "relevance"),
        ('{"query_id": "q2", "ratings": {"a": 1}}', "ratings", "relevance"),
        ('{"query_id": "q2", "qeury": "shoes", "relevance": {}}', "qeury", "query"),
    ):
        first = '{"query_id": "q1", "query": "hats", "relevance": {"a": 1}, "ratings_of": {"x": 1}}'
        file.write_text(f"{first}\n{line}\n")
        with pytest.raises(GoldenSetError) as failure:
            GoldenSet.load(file)
        assert str(failure.value).startswith(
            f'{file}:2: no "{wanted}"; if "{key}" means that, rename the key'
        )
        nothing = "{}" if wanted == "relevance" else "null"
        file.write_text(f'{first}\n{line[:-1]}, "{wanted}": {nothing}}}\n')
        golden = GoldenSet.load(file)
        assert {name.partition(".")[0] for name in golden.query("q2").attributes} == {key}
        golden.save(file, "jsonl")
        assert GoldenSet.load(file).query("q2").attributes == golden.query("q2").attributes


def test_a_repeated_judgment_is_not_a_contradiction(file: Path) -> None:
    file.write_text("q1 0 d3 2\nq1 0 d3 2.0\n")
    assert GoldenSet.load(file).judgment_count == 1
    file.write_text('{"query_id": "q", "relevance": {"d": 1, "d": 1}}')
    assert GoldenSet.load(file).judgment_count == 1


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


def test_qrels_without_texts_do_not_inherit_the_queries_of_an_older_set(tmp_path: Path) -> None:
    GoldenSet.from_dict(SAME, {"q1": "old text"}).save(tmp_path / "web.qrels")
    GoldenSet.from_dict(SAME).save(tmp_path / "web.qrels")
    assert GoldenSet.load(tmp_path / "web.qrels").query("q1").text is None


def test_ids_that_trec_cannot_hold_are_refused_and_kept_by_jsonl(tmp_path: Path) -> None:
    for bad in ("a b", "a\tb", "a\nb", "a\x0cb"):
        for judged in ({bad: {"d": 1}}, {"q": {bad: 1}}, {"#q": {"d": 1}}):
            golden = GoldenSet.from_dict(judged)
            with pytest.raises(GoldenSetError, match="cannot be an id in TREC files"):
                golden.save(tmp_path / "web.qrels")
            assert not (tmp_path / "web.qrels").exists()
            golden.save(tmp_path / "web.jsonl")
            assert contents(GoldenSet.load(tmp_path / "web.jsonl")) == contents(golden)


def test_attributes_with_a_reserved_name_or_lists_are_refused(tmp_path: Path) -> None:
    for name in ("query_id", "query", "relevance", "expect"):
        golden = GoldenSet.from_dict({"q": {"d": 1}}, attributes={"q": {name: 1}})
        with pytest.raises(GoldenSetError, match=f"an attribute named '{name}'"):
            golden.save(tmp_path / "web.jsonl")
    golden = GoldenSet.from_dict({"q": {"a": 1}}, attributes={"q": {"tag": ["new", "de"]}})
    for format_name in ("csv", "tsv", "trec"):  # they would be read as text
        message = f"has lists, which {format_name} cannot hold; save as jsonl, or as parq"
        with pytest.raises(GoldenSetError, match=message):
            golden.save(tmp_path / "golden", format_name)
    golden.save(tmp_path / "golden", "jsonl")
    assert GoldenSet.load(tmp_path / "golden").slices("tag") == golden.slices("tag")


# --- round trips of anything -------------------------------------------------------------------

NASTY = st.sampled_from(
    [*"\u2028\u2029\x85\xa0\ufeff\ud800\"'\t\x00\x1b#\u202e\r\n\\{ \x1c\x0c🙂é0", "nan"]
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
