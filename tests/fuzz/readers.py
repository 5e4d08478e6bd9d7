"""What is done with a file from outside: read it, look at all of it, write it, read it again."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import pytest
from samples import golden_set, large_record

from pytest_rankcheck import (
    BaselineError,
    GoldenSet,
    Metric,
    RankcheckError,
    Record,
    Run,
    SessionLog,
    evaluate,
    evaluate_sessions,
)
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.data_lines import lines_text, queries_of
from pytest_rankcheck.baselines.record_contents import digest_of
from pytest_rankcheck.baselines.record_writer import record_text
from pytest_rankcheck.command_line import project_inputs, unrun_command
from pytest_rankcheck.command_line.main import main
from pytest_rankcheck.plugin.project_configuration import project_configuration

__all__ = ["READERS", "command"]

ENDINGS = {
    "golden": ("jsonl", "csv", "qrels", "tsv", "parquet"),
    "run": ("jsonl", "csv", "run", "tsv", "parquet"),
}


Loaded = TypeVar("Loaded")


def read_again(load: Callable[[Path], Loaded], path: Path) -> Loaded:
    """Load what was just saved, which must not be refused."""
    try:
        return load(path)
    except RankcheckError as refusal:
        raise AssertionError(f"refuses what it saved: {refusal}") from refusal


def read_golden(path: Path) -> None:
    """Read a golden set, lint it, measure a run on it, and keep its fingerprint in files."""
    golden = GoldenSet.load(path)
    assert len(golden.judgments) == golden.judgment_count
    assert len(golden.queries) == len(golden)
    for finding in golden.lint():
        str(finding).encode("utf-8")
    ranking = {query: [*golden.grades(query), "another"] for query in golden.query_ids}
    evaluate(Run.from_dict(ranking), golden).mean("nDCG@10")
    for ending in ENDINGS["golden"]:
        copy = path.with_name(f"copy.{ending}")
        try:
            golden.save(copy)
        except RankcheckError:
            continue  # what the format cannot hold
        again = read_again(GoldenSet.load, copy)
        assert again.fingerprint == golden.fingerprint, ending


def read_run(path: Path) -> None:
    """Read a run whole and in passing, measure it, and keep its rankings in files."""
    evaluate(Run.scan(path), golden_set()).mean("nDCG@10")
    run = Run.load(path)
    evaluate(run, golden_set()).mean("RR")
    run.to_frame()
    for ending in ENDINGS["run"]:
        copy = path.with_name(f"copy.{ending}")
        try:
            run.save(copy)
        except RankcheckError:
            continue
        again = read_again(Run.load, copy)
        rankings = {query: list(run.ranking(query)) for query in run.query_ids}
        # Text formats have no line for a query without documents.
        kept = {query: docs for query, docs in rankings.items() if docs or ending == "jsonl"}
        assert {query: list(again.ranking(query)) for query in again.query_ids} == kept, ending


HOW: dict[str, dict[str, Any]] = {
    "log.jsonl": {"first_rank": 1, "time_unit": "s"},
    "nested.jsonl": {"first_rank": 1, "time_unit": "s"},
    "log.json": {"time_unit": "s"},
    "log.csv": {"first_rank": 1},
    "numbers.tsv": {"first_rank": 1},
    "actions.csv": {
        "first_rank": 1,
        "selections_where": {"action_name": ["click"]},
        "grades": {"purchase": 3},
        "duplicates": "drop",
    },
    "clients.jsonl": {
        "first_rank": 1,
        "time_unit": "s",
        "selections_where": {"type": ["click"]},
        "session_gap": "30min",
        "drop_sessions_over": 100,
    },
}
"""How the logs are read whose numbers could mean several things."""
OTHERWISE: dict[str, Any] = {
    "selections_where": "all",
    "session_gap": 2,
    "duplicates": "drop",
    "drop_sessions_over": 1,
}
"""Further options, which not every log can be read with."""


def read_log(path: Path) -> None:
    """Read a log strictly and leniently, and measure both."""
    how = HOW.get(path.name, {})
    for lenient in (True, False):
        log = SessionLog.load(path, lenient=lenient, **how)
        evaluation = evaluate_sessions(log)
        for metric in ("SuccessRate@3", "SessionRR(abandoned=zero)"):
            evaluation.mean(metric)
        assert set(log.events["session_id"]) <= set(log.session_ids)
        "".join([str(log.set_aside), *log.notes]).encode("utf-8")
    with suppress(RankcheckError):
        log = SessionLog.load(path, lenient=True, **{**how, **OTHERWISE, "grades": None})
        evaluate_sessions(log).mean("SuccessRate(rel=2)")
        assert log.trails.events.max() == 1


@cache
def _project() -> Any:
    return project_configuration()


def command(*arguments: str) -> int:
    """Run a command in this process, and return its exit code."""
    configured = mock.patch.object(project_inputs, "project_configuration", _project)
    out, err = (  # as Python opens them
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors) for errors in ("strict", "backslashreplace")
    )
    with configured, redirect_stdout(out), redirect_stderr(err):
        try:
            return main(arguments)
        finally:
            out.flush()  # what cannot be encoded raises here
            err.flush()


def read_record(path: Path) -> None:
    """Read a baseline or a report: as a record, and with the commands that take it."""
    golden = path.with_name("web.jsonl")
    if not golden.exists():
        golden_set().save(golden)
        (path.with_name("web.run")).write_text("q1 Q0 d1 1 9.5 x\nq2 Q0 d2 1 3 x\n", "utf-8")
    try:
        record = Record.load(path)
    except BaselineError:
        record = None
    if record is not None:
        text = record_text(record)  # rounds what an update writes rounded
        assert record_text(Record.from_text(text)) == text
    assert command("show", str(path)) in (0, 2)
    given = ("--golden", str(golden))
    assert command("show", str(path), *given) in (0, 2)
    assert command("compare", str(path), str(path.with_name("web.run")), *given) in (0, 1, 2)


def read_lines(path: Path) -> None:
    """Read the lines of a large record whose header agrees with them, if they can be read."""
    header, data = json.loads(large_record().header), path.read_bytes()
    columns, metrics = header["data"]["columns"], header["metrics"]
    sha256 = data_file.sha256_of(data)
    header["data"] = {"sha256": sha256, "lines": data.count(b"\n"), "columns": columns}
    try:
        queries = queries_of(data.decode("utf-8"), columns, list(metrics))
    except ValueError:
        queries = None
    if queries is not None:
        for name, detail in metrics.items():
            mean = Metric.parse(name).mean(queries.values_of[name], queries.weights)
            detail["mean"] = None if mean != mean else mean
    header["digest"] = digest_of(header)
    named = path.with_name("lines.json")
    named.write_text(json.dumps(header), "utf-8")
    data_file.data_path(named, sha256).write_bytes(data)
    if queries is None:
        with pytest.raises(BaselineError):
            Record.load(named)
    else:
        assert lines_text(queries_of(lines_text(queries), columns, list(metrics))) == lines_text(
            queries
        )
        assert Record.load(named).query_ids == queries.ids
    read_record(named)


def read_conflict(path: Path) -> None:
    """Resolve a merge conflict."""
    assert command("resolve", str(path), "--target", "ours") in (0, 2)


def read_jobs(path: Path) -> None:
    """List the gates that no job ran."""
    with mock.patch.object(unrun_command, "project_configuration", _project):
        assert command("unrun", str(path), "--root", str(path.parent)) in (0, 1, 2)


def read_configuration(path: Path) -> None:
    """Read the configuration of a project."""
    import os

    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with redirect_stdout(io.StringIO()):
            project_configuration()
    finally:
        os.chdir(here)


def read_corpus(path: Path) -> None:
    """Look judged documents up in a corpus."""
    golden = GoldenSet.from_dict({"q1": {"d1": 1, "D2": 0, "3.0": 2}}, {"q1": "red"})
    for finding in golden.lint(corpus=path):
        str(finding).encode("utf-8")


READERS: dict[str, Callable[[Path], None]] = {
    "golden": read_golden,
    "run": read_run,
    "corpus": read_corpus,
    "log": read_log,
    "record": read_record,
    "lines": read_lines,
    "conflict": read_conflict,
    "unrun": read_jobs,
    "configuration": read_configuration,
}
