"""What mutated files and dicts have found, each as a plain example."""

import json
from pathlib import Path
from typing import Any

import pytest
from readers import read_log
from samples import record, sealed

from pytest_rankcheck import (
    BaselineError,
    ConfigurationError,
    Gate,
    GoldenSet,
    GoldenSetError,
    Record,
    Run,
    RunError,
    SessionLog,
    SessionLogError,
)
from pytest_rankcheck.behaviour.changed_queries import BUILT_IN
from pytest_rankcheck.command_line.main import main
from pytest_rankcheck.gates.configured_gates import gate_of

HUGE = "9" * 400


def test_a_lone_surrogate_is_kept_or_refused(tmp_path: Path) -> None:
    golden = GoldenSet.from_dict({"q\ud800": {"d\udfff": 1}}, queries={"q\ud800": "\ud800"})
    assert golden.judgments["query_id"].tolist() == ["q\ud800"]
    golden.save(tmp_path / "copy.jsonl")
    assert GoldenSet.load(tmp_path / "copy.jsonl").fingerprint == golden.fingerprint
    for ending in ("csv", "qrels"):
        with pytest.raises(GoldenSetError, match=r"\\ud800' cannot be written as UTF-8"):
            golden.save(tmp_path / f"copy.{ending}")
    frame = Run.from_dict({"q\ud800": ["d\ud800", "d"]}).to_frame()
    assert frame["doc_id"].tolist() == ["d\ud800", "d"]
    for perturb in BUILT_IN.values():
        assert list(perturb("red \ud800 shoes"))


def test_an_odd_id_survives_in_trec_files_or_is_refused(tmp_path: Path) -> None:
    for name in ("{0}", "{", "[", "sep=;", "{{", "\\ud800"):
        run, golden = Run.from_dict({name: ["d1", "d2"]}), GoldenSet.from_dict({name: {"d1": 1}})
        run.save(tmp_path / "a.run")
        assert list(Run.load(tmp_path / "a.run").ranking(name)) == ["d1", "d2"]
        golden.save(tmp_path / "a.qrels")
        assert GoldenSet.load(tmp_path / "a.qrels").fingerprint == golden.fingerprint
    for name in ('{"a', "{}", "#1", "\ufeffq"):
        with pytest.raises(RunError, match="cannot be an id in TREC files"):
            Run.from_dict({name: ["d1"]}).save(tmp_path / "a.run")
        with pytest.raises(GoldenSetError, match="cannot be an id in TREC files"):
            GoldenSet.from_dict({name: {"d1": 1}}).save(tmp_path / "a.qrels")


def test_a_column_with_a_colon_does_not_make_a_table_letor(tmp_path: Path) -> None:
    for column in ("ratio 1:2", "the qid:", "seen 14:30:05"):
        path = tmp_path / "golden.csv"
        path.write_text(f"query_id,doc_id,relevance,{column}\nq1,d1,1,7\n", "utf-8")
        assert GoldenSet.load(path).grades("q1") == {"d1": 1}


def test_a_number_of_400_digits_in_a_log_is_refused_or_set_aside(tmp_path: Path) -> None:
    row: dict[str, Any] = {"session_id": "s1", "event": 1, "time": 1}
    row |= {"results": ["d1"], "selected_rank": 1}
    path = tmp_path / "log.jsonl"
    for key in ("time", "selected_rank", "event", "start"):
        path.write_text(json.dumps(row | {key: int(HUGE)}) + "\n", "utf-8")
        with pytest.raises(SessionLogError, match="999"):
            read_log(path)
    rows = [row | {"time": int(HUGE)}, row | {"session_id": "s2"}]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), "utf-8")
    log = SessionLog.load(path, first_rank=1, time_unit="s", lenient=True)
    assert list(log.session_ids) == ["s2"]


def test_odd_numbers_and_characters_in_a_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = json.loads(record())
    entry["metrics"]["RR"]["replicates"] = {"": [1.0, float("inf")]}
    text = sealed(json.dumps(entry).encode()).decode().replace("Infinity", "1e999")
    with pytest.raises(BaselineError):
        Record.from_text(text)
    for odd in ("\ud800", "\x1b[2J", "\u202e"):
        entry = json.loads(record())
        entry["golden_set"] |= {"fingerprint": odd, "name": odd}
        path = tmp_path / "record.json"
        path.write_bytes(sealed(json.dumps(entry).encode()))
        assert main(["show", str(path)]) == 0
        assert odd not in capsys.readouterr().out


def test_an_allowance_of_400_digits_is_refused() -> None:
    for text in (f"noninferior(margin={HUGE})", f"tolerance(abs={HUGE})"):
        with pytest.raises(ConfigurationError, match="999"):
            gate_of(text)
    with pytest.raises(ConfigurationError, match="max_query_drop"):
        Gate.tolerance(max_query_drop=int(HUGE))
