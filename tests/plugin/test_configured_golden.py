"""Several golden sets with one configuration: what must fit them, and how often they are read."""

from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSetError, RankcheckError, RunError
from pytest_rankcheck.golden import golden_files
from pytest_rankcheck.golden.documents import ROLES as OF_INTERACTIONS
from pytest_rankcheck.golden.judgment_columns import ROLES
from pytest_rankcheck.plugin.inputs import _OF_GOLDEN_SETS, _OF_RUNS, Inputs
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.rankers import run_tables

OPTIONS = """
    [tool.pytest.ini_options]
    rankcheck_golden = "clicks.csv web.jsonl"
    rankcheck_grades = 1
    rankcheck_attributes = ["locale"]
    """
WEB = '{"query_id": "q", "relevance": {"d": 3}, "locale": "de"}\n'


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makefile(".toml", pyproject=OPTIONS)
    pytester.makefile(".csv", clicks="query_id,doc_id,segment\nu1,a,new\n")
    pytester.makefile(".jsonl", web=WEB)
    pytester.makepyfile("def test_read(golden_set): pass")
    return pytester


def test_each_of_several_golden_sets_is_read_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, really = [], golden_files.contents_of_file

    def counted(source, *others):  # type: ignore[no-untyped-def]
        read.append(source.file.name)
        return really(source, *others)

    monkeypatch.setattr(golden_files, "contents_of_file", counted)
    project.runpytest_inprocess().assert_outcomes(passed=2)
    assert sorted(read) == ["clicks.csv", "web.jsonl"]


def test_a_set_that_cannot_be_read_fails_only_its_own_tests(project: pytest.Pytester) -> None:
    project.makefile(".jsonl", web=WEB + WEB)
    result = project.runpytest()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*web.jsonl:2: duplicate query 'q'*"])


def test_one_grade_is_for_the_tables_without_grades(tmp_path: Path) -> None:
    (tmp_path / "clicks.csv").write_text("query_id,doc_id\nu1,a\n")
    (tmp_path / "judged.csv").write_text("query_id,doc_id,relevance\nu1,a,3\n")
    clicks, judged = tmp_path / "clicks.csv", tmp_path / "judged.csv"
    inputs = Inputs(Config(golden=(clicks, judged), grades=1))
    assert inputs.golden_set(clicks).grades("u1") == {"a": 1}
    assert inputs.golden_set(judged).grades("u1") == {"a": 3}


def test_all_that_is_configured_about_judgments_counts(tmp_path: Path) -> None:
    (tmp_path / "judged.csv").write_text("query,doc_id,rel,locale,note\nq,a,2,de,x\nq,a,1,de,x\n")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\tbest\n")
    (tmp_path / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q", "text": "red", "locale": "de", "note": 1}'
    )
    reading = {"grades": {"1": 3, "2": 2, "best": 3}, "contradictions": "last", "split": "dev"}
    inputs = Inputs(Config(**reading, scale=5, attributes=("locale",)))
    for golden in map(inputs.golden_set, (tmp_path / "judged.csv", tmp_path)):
        assert golden.grades("q") == {"a": 3}
        assert (golden.scale, golden.attributes) == (5, ("locale",))


# --- the columns of golden sets and runs ---------------------------------------------------------

NAMES = {"query_id": "sid", "doc_id": "sku", "relevance": "stars", "score": "bm25"}


def test_columns_are_those_of_golden_sets_and_runs(tmp_path: Path) -> None:
    """Each is in at least one of the files; where it is not, the usual names count."""
    for judged, ranked in (
        ("sid,sku,stars", "sid,sku,bm25"),
        ("query_id,doc_id,stars", "sid,sku,bm25"),
        ("sid,sku,stars", "qid,docno,bm25"),
    ):
        golden, run = tmp_path / "g.csv", tmp_path / "r.csv"
        golden.write_text(f"{judged}\nq1,a,2\nq1,b,0\n")
        run.write_text(f"{ranked}\nq1,b,1\nq1,a,2\n")
        inputs = Inputs(Config(golden=(golden,), run=run, columns=NAMES))
        assert inputs.golden_set(golden).grades("q1") == {"a": 2, "b": 0}
        assert inputs.run_of("g")["q1"] == ("a", "b")
        for role in ("query_id", "relevance"):
            wrong = Inputs(Config(golden=(golden,), run=run, columns={**NAMES, role: "typo"}))
            with pytest.raises(GoldenSetError, match=r"g\.csv has no column 'typo'"):
                wrong.golden_set(golden)
        for role in ("doc_id", "score"):
            wrong = Inputs(Config(golden=(golden,), run=run, columns={**NAMES, role: "typo"}))
            with pytest.raises(RunError, match=r"r\.csv has no column 'typo'"):
                wrong.run_of("g")


def test_a_line_may_be_for_one_golden_set_and_its_run(tmp_path: Path) -> None:
    """It overrides a line for all of them, wherever it stands; rules for ids come after those."""
    for name in ("web", "app"):
        (tmp_path / f"{name}.csv").write_text("qid,sku,rel,mobile\nq1,A#1,2,0\nq1,B#1,0,2\n")
        (tmp_path / f"{name}.run.csv").write_text("qid,sku,rel,bm25\nq1,A#1,1,1\nq1,B#2,2,2\n")
    config = Config(
        golden=(tmp_path / "web.csv", tmp_path / "app.csv"),
        run=tmp_path / "{golden}.run.csv",
        columns={
            "app: relevance": "mobile",
            "doc_id": "sku",
            "relevance": "rel",
            "app: score": "rel",
        }
        | {"score": "bm25"},
        doc_id_lines=("app: before:#", "lower"),
    )
    inputs = Inputs(config)
    web, app = map(inputs.golden_set, config.golden)
    assert (web.grades("q1"), app.grades("q1")) == ({"a#1": 2, "b#1": 0}, {"a": 0, "b": 2})
    assert inputs.run_of("web")["q1"] == ("b#2", "a#1")
    assert inputs.run_of("app")["q1"] == ("b", "a")
    assert inputs.evaluation(inputs.run_of("app"), app).mean("RR") == 1


@pytest.mark.parametrize(
    ("web", "meaning"),
    [("qid,docno,rel\nq,d,1\n", "relevance"), ('[{"query": "x", "relevant": ["d"]}]', "relevance")],
)
def test_a_line_for_one_golden_set_must_fit_it(tmp_path: Path, web: str, meaning: str) -> None:
    """A misspelt column for all sets may be of another one; for one set it is an error."""
    (tmp_path / "web").write_text(web)
    (tmp_path / "app").write_text("qid,docno,rel\nq,d,1\n")
    paths = (tmp_path / "web", tmp_path / "app")
    assert Inputs(Config(golden=paths, columns={meaning: "typo"})).golden_set(paths[0])
    with pytest.raises(GoldenSetError, match="has no column 'typo'"):
        Inputs(Config(golden=paths, columns={f"web: {meaning}": "typo"})).golden_set(paths[0])


def test_the_meanings_of_columns_are_those_of_the_readers(tmp_path: Path) -> None:
    of_runs = {role.name for role in run_tables._ROLES}
    of_golden_sets = {role.name for role in ROLES}
    assert set(_OF_RUNS) == of_runs - of_golden_sets | {*OF_INTERACTIONS}
    assert set(_OF_GOLDEN_SETS) == of_golden_sets - of_runs | {*OF_INTERACTIONS}
    (tmp_path / "t.csv").write_text("query_id,doc_id,relevance\nq,d,1\n")
    inputs = Inputs(Config(columns={"scor": "bm25"}))
    for read in (inputs.golden_set, inputs.read_run):
        with pytest.raises(RankcheckError, match="unknown key 'scor'"):
            read(tmp_path / "t.csv")


def test_hints_name_the_option_beside_the_keyword(tmp_path: Path) -> None:
    for file, text, option in (
        ("g.csv", "query_id,doc_id,lab", "columns={'relevance': '...'} (rankcheck_columns)"),
        ("g.csv", "query_id,doc_id,lab", "give grades=1 (rankcheck_grades)"),
        (
            "g.csv",
            "query_id,doc_id,rank,score",
            "people gave 'score', rename the column: 'relevance'",
        ),
        ("g.csv", "query_id,docno,pid,rel", "columns={'doc_id': ...} (rankcheck_columns, "),
        ("g.csv", "query_id,doc_id,rel\nq,d,1\nq,d,2", "='highest' (rankcheck_contradictions)"),
        ("qrels/dev.tsv", "", "split= (rankcheck_split)"),
        ("r.csv", "query_id,doc_id,s\nq,d,1", "columns={'score': ...}, if the highest is best"),
    ):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\n")
        if file == "qrels/dev.tsv":
            path.with_name("train.tsv").write_text("")
            path = tmp_path
        inputs = Inputs(Config())
        with pytest.raises(RankcheckError) as raised:
            inputs.read_run(path) if file == "r.csv" else inputs.golden_set(path)
        assert option in str(raised.value)


# --- cases of retrieval, with keys of their own ---------------------------------------------------
