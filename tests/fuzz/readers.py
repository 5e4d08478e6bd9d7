"""What is done with a file from outside: read it, look at all of it, write it, read it again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from samples import golden_set

from pytest_rankcheck import (
    GoldenSet,
    RankcheckError,
    Record,
    Run,
    SessionLog,
    evaluate,
    evaluate_sessions,
)


def saved_and_read(value: Any, path: Path, ending: str) -> Any:
    """Return a golden set or a run as it is read after being saved; None if it cannot be saved."""
    copy = path.with_name(f"copy.{ending}")
    try:
        value.save(copy)
    except RankcheckError:
        return None  # what the format cannot hold
    try:
        return type(value).load(copy)
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
    for ending in ("jsonl", "csv", "qrels", "tsv", "parquet"):
        again = saved_and_read(golden, path, ending)
        assert again is None or again.fingerprint == golden.fingerprint, ending


def read_run(path: Path) -> None:
    """Read a run whole and in passing, measure it, and keep its rankings in files."""
    evaluate(Run.scan(path), golden_set()).mean("nDCG@10")
    run = Run.load(path)
    evaluate(run, golden_set()).mean("RR")
    run.to_frame()
    rankings = {query: list(run.ranking(query)) for query in run.query_ids}
    for ending in ("jsonl", "csv", "run", "tsv", "parquet"):
        again = saved_and_read(run, path, ending)
        # Text formats have no line for a query without documents.
        kept = {query: docs for query, docs in rankings.items() if docs or ending == "jsonl"}
        if again is not None:
            assert {query: list(again.ranking(query)) for query in again.query_ids} == kept, ending


USUAL: dict[str, Any] = {"first_rank": 1, "time_unit": "s"}
HOW: dict[str, dict[str, Any]] = {
    "log.jsonl": USUAL,
    "clicks.jsonl": USUAL,
    "log.json": {"time_unit": "s"},
    "log.csv": {"first_rank": 1},
    "numbers.tsv": {"first_rank": 1},
    "payload.csv": {
        "first_rank": 0,
        "columns": {
            "session": "event_data.sessionId",
            "event": "event_data.index",
            "results": "event_data.results",
            "selected_rank": "event_data.selectedIndexes",
        },
    },
    "actions.csv": {
        "first_rank": 1,
        "selections_where": {"action_name": ["click"]},
        "grades": {"purchase": 3},
        "duplicates": "drop",
    },
    "clients.jsonl": {
        **USUAL,
        "selections_where": {"type": ["click"]},
        "session_gap": "30min",
    },
}
"""How the logs are read whose numbers could mean several things."""


def read_log(path: Path) -> None:
    """Read a log leniently and strictly, and measure both."""
    for lenient in (True, False):
        log = SessionLog.load(path, lenient=lenient, **HOW.get(path.name, {}))
        evaluation = evaluate_sessions(log)
        for metric in ("SuccessRate@3", "SessionRR(abandoned=zero)"):
            evaluation.mean(metric)
        assert set(log.events["session_id"]) <= set(log.session_ids)
        "".join([str(log.set_aside), *log.notes]).encode("utf-8")


def read_record(path: Path) -> None:
    """Read a baseline, and write it as it was."""
    text = Record.load(path).text  # rounds what an update writes rounded
    assert Record.from_text(text).text == text


def read_corpus(path: Path) -> None:
    """Look judged documents up in a corpus."""
    golden = GoldenSet.from_dict({"q1": {"d1": 1, "D2": 0, "3.0": 2}}, {"q1": "red"})
    for finding in golden.lint(documents=path):
        str(finding).encode("utf-8")


READERS: dict[str, Callable[[Path], None]] = {
    "golden": read_golden,
    "run": read_run,
    "corpus": read_corpus,
    "log": read_log,
    "record": read_record,
}
