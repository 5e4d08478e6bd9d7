"""What mutated files have found, each as a plain example."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from readers import read_golden, read_log, read_run

from pytest_rankcheck import GoldenSet, GoldenSetError, Run, RunError, SessionLog, SessionLogError

HUGE = "9" * 400


def test_an_indented_comment_of_letor_is_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "rank.letor"
    path.write_text("1 qid:1 1:0.5 # d1\n # d7\n0 qid:1 1:0.1 # d2\n", "utf-8")
    assert GoldenSet.load(path).grades("1") == {"d1": 1, "d2": 0}


def test_a_feature_with_a_number_of_5000_digits_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "rank.letor"
    path.write_text(f"1 qid:1 {'9' * 5000}:0.5 2:1 # d1\n", "utf-8")
    read_golden(path)


@pytest.mark.parametrize("column", ["query_id", "query", "doc_id", "title"])
def test_a_judging_list_without_a_column_is_refused(tmp_path: Path, column: str) -> None:
    path = tmp_path / "tojudge.csv"
    head = "query_id,query,doc_id,title,relevance,rank,metric,influence"
    path.write_text(f"{head.replace(column, 'x', 1)}\nq1,a,d1,A,2,1,RR,0.1\n", "utf-8")
    with pytest.raises(GoldenSetError, match=rf"tojudge.csv has no column {column}"):
        GoldenSet.load(path, "to_judge")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "qrels"])
def test_a_lone_surrogate_in_an_id_is_kept_or_refused(tmp_path: Path, ending: str) -> None:
    golden = GoldenSet.from_dict({"q\ud800": {"d\udfff": 1}}, queries={"q\ud800": "\ud800"})
    assert golden.judgments["query_id"].tolist() == ["q\ud800"]
    assert golden.queries["query"].tolist() == ["\ud800"]
    copy = tmp_path / f"copy.{ending}"
    if ending == "jsonl":
        golden.save(copy)
        assert GoldenSet.load(copy).fingerprint == golden.fingerprint
    else:
        with pytest.raises(GoldenSetError, match=r"\\ud800' cannot be written as UTF-8"):
            golden.save(copy)


def test_a_lone_surrogate_in_a_case_of_quepid_is_read(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text('{"queries": [{"query": "\\ud800", "ratings": {"d1": 2}}]}', "utf-8")
    read_golden(path)
    assert GoldenSet.load(path).query_ids == ("\ud800",)


def test_a_run_with_a_lone_surrogate_becomes_a_frame() -> None:
    frame = Run.from_dict({"q\ud800": ["d\ud800", "d"]}).to_frame()
    assert frame["doc_id"].tolist() == ["d\ud800", "d"]


def test_unrated_queries_of_quepid_survive_in_qrels(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text('{"queries": [{"query": "red", "ratings": {}}]}', "utf-8")
    golden = GoldenSet.load(path)
    golden.save(tmp_path / "copy.qrels")
    assert GoldenSet.load(tmp_path / "copy.qrels").fingerprint == golden.fingerprint


@pytest.mark.parametrize("name", ["{0}", "{", "[", "sep=;", "{{", "\\ud800"])
def test_an_id_in_braces_survives_in_trec_files(tmp_path: Path, name: str) -> None:
    run = Run.from_dict({name: ["d1", "d2"]})
    run.save(tmp_path / "a.run")
    assert list(Run.load(tmp_path / "a.run").ranking(name)) == ["d1", "d2"]
    golden = GoldenSet.from_dict({name: {"d1": 1}})
    golden.save(tmp_path / "a.qrels")
    assert GoldenSet.load(tmp_path / "a.qrels").fingerprint == golden.fingerprint


@pytest.mark.parametrize("name", ['{"a', "{}", "#1", "\ufeffq"])
def test_an_id_that_would_be_read_as_something_else_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError, match="cannot be an id in TREC files"):
        Run.from_dict({name: ["d1"]}).save(tmp_path / "a.run")
    with pytest.raises(GoldenSetError, match="cannot be an id in TREC files"):
        GoldenSet.from_dict({name: {"d1": 1}}).save(tmp_path / "a.qrels")


@pytest.mark.parametrize("name", ["PK\x03\x04", "<html>", "PAR1\x15", "q\0" * 8])
def test_an_id_that_begins_like_a_file_of_another_kind_is_refused(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(RunError, match=r"the file would begin with .* and be taken for"):
        Run.from_dict({name: ["d1"]}).save(tmp_path / "a.run")
    with pytest.raises(GoldenSetError, match=r"the file would begin with .* and be taken for"):
        GoldenSet.from_dict({name: {"d1": 1}}).save(tmp_path / "a.qrels")
    Run.from_dict({name: ["d1"]}).save(tmp_path / "a.jsonl")
    assert list(Run.load(tmp_path / "a.jsonl").ranking(name)) == ["d1"]


@pytest.mark.parametrize("column", ["ratio 1:2", "the qid:", "seen 14:30:05"])
def test_a_column_with_a_colon_does_not_make_a_table_letor(tmp_path: Path, column: str) -> None:
    path = tmp_path / "golden.csv"
    path.write_text(f"query_id,doc_id,relevance,{column}\nq1,d1,1,7\n", "utf-8")
    golden = GoldenSet.load(path)
    assert golden.grades("q1") == {"d1": 1}
    golden.save(tmp_path / "copy.csv")
    assert GoldenSet.load(tmp_path / "copy.csv").fingerprint == golden.fingerprint


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_cell_too_long_for_a_table_is_refused(tmp_path: Path, ending: str) -> None:
    name = "q" * 140_000
    with pytest.raises(GoldenSetError, match="too long for a table; save as jsonl"):
        GoldenSet.from_dict({name: {"d1": 1}}).save(tmp_path / f"a.{ending}")
    with pytest.raises(RunError, match="too long for a table; save as jsonl"):
        Run.from_dict({name: ["d1"]}).save(tmp_path / f"a.{ending}")


def test_a_number_of_400_digits_is_kept_or_refused(tmp_path: Path) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    golden = GoldenSet.from_dict({"q": {"d1": 1}}, attributes={"q": {"size": 10**400}})
    with pytest.raises(GoldenSetError, match="cannot be written as a table"):
        golden.save(tmp_path / "a.parquet")
    golden.save(tmp_path / "a.jsonl")
    assert GoldenSet.load(tmp_path / "a.jsonl").query("q").attributes == {"size": 10**400}


def test_an_empty_query_id_in_a_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"query_id": "", "ranking": ["d1"]}\n', "utf-8")
    with pytest.raises(RunError, match=r"run.jsonl:1: query_id is empty"):
        read_run(path)


@pytest.mark.parametrize("key", ["time", "selected_rank", "event", "start"])
def test_a_number_of_400_digits_in_a_log_is_refused(tmp_path: Path, key: str) -> None:
    row = {"session_id": "s1", "event": 1, "time": 1, "results": ["d1"], "selected_rank": 1}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(row | {key: int(HUGE)}) + "\n", "utf-8")
    with pytest.raises(SessionLogError, match="999"):
        read_log(path)


@pytest.mark.parametrize("key", ["time", "selected_rank"])
def test_a_lenient_reader_sets_a_number_of_400_digits_aside(tmp_path: Path, key: str) -> None:
    rows = [
        {"session_id": name, "event": 1, "time": 1, "results": ["d1"], "selected_rank": 1}
        for name in ("s1", "s2")
    ]
    rows[0][key] = int(HUGE)
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    log = SessionLog.load(path, first_rank=1, time_unit="s", lenient=True)
    assert list(log.session_ids) == ["s2"]
