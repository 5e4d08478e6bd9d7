"""All ways to read a run file (by line, in columns, at once) give the same evaluation."""

import tracemalloc
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Run, RunError, evaluate
from pytest_rankcheck.files import packed_files, trec_columns
from pytest_rankcheck.rankers.ranked_columns import TOP
from tests.examples import examples

WAYS = ["lines", "columns"] if find_spec("polars") else ["lines"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read in blocks of a few lines, with or without the columnar reader."""
    choose(monkeypatch, request.param)
    return str(request.param)


def choose(monkeypatch: pytest.MonkeyPatch, way: str, block: int = 200) -> None:
    monkeypatch.setattr(packed_files, "LARGE_FILE", 0 if way == "columns" else 1 << 60)
    monkeypatch.setattr(trec_columns, "BLOCK_BYTES", block)
    if way == "columns":
        monkeypatch.setattr(trec_columns, "LARGE_BLOCK_BYTES", block)


DOCS = ["d1", "d2", "d10", "é", "文", "🙂", "x_y", "#c", "0", *(f"doc{i:02}" for i in range(30))]
judged_of = st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), min_size=1, max_size=12)
golden_of = st.dictionaries(st.sampled_from(["q1", "q2", "q3", "ü"]), judged_of, min_size=1)
scores = st.one_of(
    st.integers(0, 6).map(str),
    st.floats(-1e6, 1e6).map(repr),
    st.sampled_from(
        ["1.5", "1.50", "15e-1", "+1.5", ".5", "5.", "0.1", "0.10000000000000001", "-0.0"]
    ),
)
ranked_rows = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "q3", "ü", "extra"]), st.sampled_from(DOCS), scores),
    unique_by=lambda row: row[:2],
    min_size=1,
    max_size=60,
)
FORMS = {
    "plain": "{q} Q0 {d} {i} {s} tag\n",
    "tabs": "{q}\tQ0\t{d}\t{i}\t{s}\ttag\n",
    "wide": "{q}  Q0 \t{d} {i}   {s} tag \n",
    "windows": "{q} Q0 {d} {i} {s} tag\r\n",
    "words": "{q} Q0 {d} {i} {s} two words\n",
    "comments": "{q} Q0 {d} {i} {s} tag\n# a b c d e\n\n",
}


def text_of(rows: list[tuple[str, str, str]], form: str) -> str:
    # Random ranks could say the opposite of all scores, which is refused.
    return "".join(FORMS[form].format(q=q, d=d, i=0, s=s) for q, d, s in rows)


def everything(
    run: Run, golden: GoldenSet, names: tuple[str, ...] = ("nDCG@5", "AP", "NumRet")
) -> object:
    """Return the values of an evaluation, or the error that it raises."""
    try:
        evaluation = evaluate(run, golden)
    except RunError as error:
        return str(error)
    tops = {query_id: tuple(evaluation.ranking(query_id)[:TOP]) for query_id in golden.query_ids}
    values = {name: evaluation.values(name).tobytes() for name in names}
    return values, tops, evaluation.missing, sorted(evaluation.extra)


@pytest.mark.slow
@examples(250)
@given(
    rows=ranked_rows,
    judgments=golden_of,
    order=st.sampled_from(["as it comes", "by query", "best first"]),
    form=st.sampled_from(list(FORMS)),
    ties=st.sampled_from(["doc_id", "input", "error"]),
    block=st.sampled_from([10, 100, 1000]),
    last_line_feed=st.booleans(),
)
def test_all_readers_give_exactly_the_same_values(
    rows: list, judgments: dict, order: str, form: str, ties: str, block: int, last_line_feed: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    if order != "as it comes":
        rows.sort(key=lambda row: row[0])
    if order == "best first":
        rows.sort(key=lambda row: (row[0], -float(row[2])))
    text = text_of(rows, form)
    file = tmp_path_factory.getbasetemp() / "random.run"
    file.write_bytes((text if last_line_feed else text.rstrip("\r\n")).encode())
    golden = GoldenSet.from_dict(judgments)
    expected = everything(Run.load(file, "trec", ties=ties), golden) if ties != "error" else None
    for way in WAYS:
        with pytest.MonkeyPatch.context() as monkeypatch:
            choose(monkeypatch, way, block)
            run = Run.scan(file, "trec", ties=ties)
            found = everything(run, golden)
            assert not run.is_in_memory
        expected = expected or found
        assert found == expected, way


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q2 Q0 a 1 2.0", "r.run:41: 5 columns, not 6: 'q2 Q0 a 1 2.0'"),
        ("q2 Q0 a 1 high tag", "r.run:41: the score of document 'a' is 'high', not a finite number"),
        ("q2 Q0 a 1 nan tag", "r.run:41: the score of document 'a' is 'nan'"),
        ("q2 Q0 a 1 1e999 tag", "r.run:41: the score of document 'a' is '1e999'"),
        ("q2 Q0 a 1 1_0 tag", "r.run:41: the score of document 'a' is '1_0'"),
        ("q2 Q0 d3 1 2.0 tag\nq2 Q0 d3 2 1.0 tag", "query 'q2': document 'd3' is ranked twice, at 1 and 2"),
        ("q1 Q0 d3 99 0.5 tag", "query 'q1': document 'd3' is ranked twice, at 4 and 41"),
        ("q2 Q0 \udcff 1 2.0 tag", "r.run:41: byte 7 is not UTF-8"),
    ],
)  # fmt: skip
def test_errors_name_their_place(way: str, line: str, message: str, tmp_path: Path) -> None:
    good = "".join(f"q1 Q0 d{i} {i} {50 - i} tag\n" for i in range(40))
    after = "".join(f"q3 Q0 d{i} {i} {50 - i} tag\n" for i in range(40))
    file = tmp_path / "r.run"
    file.write_bytes(f"{good}{line}\n{after}".encode("utf-8", "surrogateescape"))
    golden = GoldenSet.from_dict({"q1": {"d1": 1}, "q2": {"a": 1}})
    with pytest.raises(RunError) as scan_trec:
        evaluate(Run.scan(file), golden)
    assert message in str(scan_trec.value)
    with pytest.raises(RunError) as loaded:
        Run.load(file)
    assert str(scan_trec.value) == str(loaded.value)


@pytest.mark.usefixtures("way")
def test_a_query_longer_than_a_block(tmp_path: Path) -> None:
    file = tmp_path / "r.run"
    file.write_text("".join(f"q Q0 d{i} {i} {9000 - i} t\n" for i in range(9000)))
    evaluation = evaluate(Run.scan(file), GoldenSet.from_dict({"q": {"d8998": 1}}))
    assert evaluation.mean("RR") == 1 / 8999
    assert evaluation.mean("NumRet") == 9000


# --- the run of a file that was not read ------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bm25.run"
    path.write_text("".join(f"q{q} Q0 d{i} {i} {100 - i} t\n" for q in (1, 2) for i in range(60)))
    return path


def test_a_scanned_run_is_read_when_its_rankings_are_needed(file: Path) -> None:
    run = Run.scan(file)
    assert repr(run) == "Run('bm25.run', not read yet)"
    evaluation = evaluate(run, GoldenSet.from_dict({"q1": {"d3": 1, "d50": 2}}))
    assert not run.is_in_memory
    assert evaluation.ranking("q1") == tuple(f"d{i}" for i in range(TOP))
    # beyond the top, the ranks of the judged documents are known
    assert evaluation.ranks("q1")["d50"] == 51
    assert "d49" not in evaluation.ranks("q1")
    assert evaluation.extra == ("q2",)
    assert repr(evaluation).startswith("Evaluation(of Run('bm25.run', not read yet) on ")
    assert not run.is_in_memory
    assert len(run["q1"]) == 60
    assert run.is_in_memory
    assert len(evaluation.ranking("q1")) == 60
    assert evaluation.ranks("q1")["d49"] == 50
    assert repr(run) == "Run('bm25.run', 2 queries, 120 documents)"


def test_a_scanned_run_can_be_cut_without_reading_it(file: Path) -> None:
    golden = GoldenSet.from_dict({"q1": {"d3": 1, "d50": 2}})
    run = Run.scan(file).top(10)
    assert run.depth == 10
    evaluation = evaluate(run, golden)
    assert not run.is_in_memory
    whole = evaluate(Run.load(file).top(10), golden)
    for name in ("nDCG", "AP", "NumRet", "NumRelRet"):
        assert evaluation.mean(name) == whole.mean(name)
    assert evaluation.ranking("q1") == whole.ranking("q1")
    assert (
        run.top(5).top(20).ranking("q1")
        == run.top(5).ranking("q1")
        == ("d0", "d1", "d2", "d3", "d4")
    )
    assert len(run["q1"]) == 10


def test_a_large_file_is_not_read_before_it_is_needed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_rankcheck.rankers import run as module

    assert Run.load(file).is_in_memory
    monkeypatch.setattr(module, "_SMALL_FILE_BYTES", 100)
    assert not Run.load(file).is_in_memory


# --- memory -----------------------------------------------------------------------------------


def peak_of(file: Path, golden: GoldenSet) -> int:
    tracemalloc.start()
    try:
        evaluate(Run.scan(file), golden).mean("nDCG@10")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, "lines", 1 << 14)
    golden = GoldenSet.from_dict({"q0": {"d3": 1}})
    peaks = []
    for queries in (40, 400):
        path = tmp_path / f"{queries}.run"
        pairs = [(q, i) for q in range(queries) for i in range(100)]
        path.write_text("".join(f"q{q} Q0 d{i} {i} {100 - i} t\n" for q, i in pairs))
        peaks.append(peak_of(path, golden))
    assert peaks[1] < 2 * peaks[0]


# --- blocks -----------------------------------------------------------------------------------


@examples(200)
@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=30),
    size=st.sampled_from([8, 30, 300, 3000]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_blocks_hold_whole_queries_and_all_lines(
    lengths: list[int], size: int, mark: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = [(f"q{q}", f"d{i}") for q, n in enumerate(lengths) for i in range(n)]
    text = "".join(f"{q} Q0 {d} 1 1.0 t{'x' * (len(d) % 7)}\n" for q, d in lines)
    file = tmp_path_factory.getbasetemp() / "blocks.run"
    file.write_text(mark + text, encoding="utf-8")
    for way in WAYS:
        with pytest.MonkeyPatch.context() as monkeypatch:
            choose(monkeypatch, way, size)
            blocks = list(Run.scan(file, "trec").columns())
        query_ids = [query_id for block in blocks for query_id in block.query_ids]
        assert query_ids == [f"q{q}" for q in range(len(lengths))]
        groups = [block.doc_ids(place) for block in blocks for place in range(len(block))]
        assert [doc_id for group in groups for doc_id in group] == [doc_id for _, doc_id in lines]


# --- answers as they were given ---------------------------------------------------------------


def test_an_invalid_ranking_is_refused_at_once() -> None:
    wrong: list[object] = [float("nan"), float("inf"), None, "2"]
    dicts: list[object] = [{"a": 1.0, "b": score, "c": 0.5} for score in wrong]
    dicts += [{"a": 1.0, doc_id: 2.0} for doc_id in (None, "", 2.5)]
    lists: list[object] = [["a", doc_id, "c"] for doc_id in (None, "", 2.5, ["b"], "a")]
    for answer in (*dicts, *lists):
        with pytest.raises(RunError, match="query 'q'"):
            Run.from_dict({"q": answer})


@pytest.mark.usefixtures("way")
def test_two_separators_do_not_make_up_for_a_missing_column(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    for line in ("q1  Q0 d1 1 0.5", "q1 Q0 d1 1 0.5 ", " q1 Q0 d1 1 0.5", "q1 Q0 d1\t\t1 0.5"):
        path.write_text(f"q0 Q0 d1 1 0.5 tag\n{line}\n")
        with pytest.raises(RunError, match=r"run\.trec:2: 5 columns"):
            evaluate(Run.scan(path), GoldenSet.from_dict({"q0": {"d1": 1}}))


@pytest.mark.parametrize("way", WAYS)
def test_a_long_line_does_not_make_up_for_a_short_one(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, way, 1000)  # one block
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 1 3 t\nq Q0 b 2 2 two words\nq Q0 c 3 1\nq Q0 d 4 0 t\n")
    with pytest.raises(RunError, match=r"run\.trec:3: 5 columns"):
        Run.load(path)


def test_a_byte_order_mark_within_a_file_is_part_of_an_id(way: str, tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    line = "\ufeffq{} Q0 d1 1 0.5 tag\n"  # as long as a block, so each begins one
    path.write_text("".join(line.format(f"{query}" * 90) for query in range(5)), "utf-8")
    queries = [f"{query}" * 90 for query in range(5)]
    expected = [f"q{queries[0]}", *(f"\ufeffq{query}" for query in queries[1:])]
    assert list(Run.load(path).query_ids) == expected
