"""``sessions``, and ``show`` and ``lint`` of session logs: each planted fault is found."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import SessionLogError
from pytest_rankcheck.command_line.main import main
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.sessions.profile.log_profile import LogProfile
from pytest_rankcheck.sessions.profile.log_rules import log_findings, log_rules

START = 1_763_280_000
Rows = list[dict[str, Any]]


def clean(sessions: int = 100) -> Rows:
    """Return the events of sessions without a fault."""
    chosen = random.Random(4)
    rows = []
    for session in range(sessions):
        for event in range(chosen.randint(1, 4)):
            documents = chosen.sample([f"d{number}" for number in range(30)], 5)
            rank = chosen.choice([0, 0, 1, 2, 4, None, None])
            rows.append(
                {
                    "session_id": f"s{session}",
                    "time": START + 100 * session + 20 * event,
                    "query": f"query {event}",
                    "results": documents,
                    "selected_rank": rank,
                    "device": "ab"[session % 2],
                }
            )
    return rows


def impressions() -> Rows:
    """Return a row for each impression and each click."""
    rows = []
    for number, row in enumerate(clean()):
        base = {"session_id": row["session_id"], "timestamp": row["time"], "search_id": number}
        for rank, document in enumerate(row["results"]):
            shown = {"action_name": "impression", "position": rank, "doc_id": document}
            rows.append(base | shown)
            if rank == row["selected_rank"]:
                rows.append(rows[-1] | {"action_name": "click", "timestamp": row["time"] + 3})
    return rows


def changed(change: Callable[[int, dict[str, Any]], dict[str, Any]]) -> Rows:
    return [row | change(place, row) for place, row in enumerate(clean())]


def clients(sessions: int) -> Rows:
    """Return events whose session ids are those of clients, who come back the next day."""
    rows = clean(sessions)
    return rows + [row | {"time": row["time"] + 86_400} for row in rows]


BOT = [
    {"session_id": "bot", "time": START + each, "query": "x", "results": ["a"], "selected_rank": None}
    for each in range(500)
]  # fmt: skip

FAULTS: dict[str, tuple[Rows, str, str]] = {
    "impressions": (impressions(), "refused-log", 'selections_where={"action_name": ["click"]}'),
    "no sessions": (
        [
            {"client_id": row["session_id"]} | {k: v for k, v in row.items() if k != "session_id"}
            for row in clean()
        ],
        "no-sessions",
        "session='client_id', session_gap='30min'",
    ),
    "clients as sessions": (clients(50), "long-pauses", "makes 100 sessions"),
    "requests as sessions": (
        changed(lambda place, _: {"session_id": f"r{place}"}),
        "sessions-of-one-event",
        "check which column has the session ids",
    ),
    "duplicates": ([*clean(), *clean()[:7]], "duplicate-rows", "7 rows of"),
    "bots": ([*clean(), *BOT], "dominant-sessions", "500 events"),
    "many bots": (
        [
            *clean(),
            *(row | {"session_id": f"bot{each}"} for each in range(30) for row in BOT[:120]),
        ],
        "dominant-sessions",
        "30 sessions have 120 events or more, 94% of all events: bot0, bot1, bot2",
    ),
    "constant id": (
        changed(lambda _, row: {"session_id": "web"}),
        "dominant-sessions",
        "100% of all events: web",
    ),
    "placeholder ids": (
        changed(lambda place, row: {"session_id": "null"} if place % 9 == 0 else {}),
        "placeholder-sessions",
        "'null' (",
    ),
    "ranks from 1": (
        changed(
            lambda _, row: {
                "selected_rank": None
                if row["selected_rank"] is None or row["selected_rank"] == 4
                else row["selected_rank"] + 1
            }
        ),
        "unselected-first-rank",
        "read with first_rank=1",
    ),
    "repeated users": (
        changed(lambda _, row: {"client_id": f"c{int(row['session_id'][1:]) // 4}"}),
        "repeated-users",
        "'client_id' has 25 values in 100 sessions; one of them has 4",
    ),
    "no selections": (
        changed(lambda *_: {"selected_rank": None}),
        "no-selections",
        "no event has a selection",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return tmp_path


def write(rows: Rows, name: str = "week.jsonl") -> str:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return name


def output(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    return capsys.readouterr().out


READING = ("--reading", "first_rank=0")


def test_a_log_without_a_fault(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "sessions", write(clean()), *READING)
    rows = clean()
    sizes = [sum(row["session_id"] == f"s{each}" for row in rows) for each in range(100)]
    assert f"session log 'week' (week.jsonl): {len(rows)} rows" in out
    assert f"100 sessions, {len(rows)} events; events per session: median" in out
    assert f"99% at most 4, the largest {max(sizes)}" in out
    selected = [row["selected_rank"] for row in rows if row["selected_rank"] is not None]
    assert f"selected ranks, from 1 ({len(selected)} selections)" in out
    firsts = selected.count(0)
    assert f"  1  {firsts}  {firsts / len(selected):.1%}  ####" in out
    assert "longest pauses within a session\n  20 s  s" in out
    assert re.search(
        r"  device         -                100%  2: [ab] \(\d+\), [ab] \(\d+\)\n", out
    )
    assert "session log 'week' (100 sessions): 0 errors, 0 warnings\n" in out
    assert "refused" not in out


@pytest.mark.parametrize("fault", FAULTS)
def test_each_planted_fault_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    rows, rule, words = FAULTS[fault]
    file = write(rows)
    found = output(capsys, "sessions", file, *READING)
    assert f" {rule}: " in found
    assert words in found
    levels = {each.name: each.level for each in log_rules()}
    is_error = levels[rule] == "error" or "refused-log" in found
    linted = output(capsys, "lint", file, *READING, code=1 if is_error else 0)
    assert f" {rule}: " in linted
    # A rule can be silenced as those of golden sets can.
    profile = LogProfile.of(file, {"first_rank": 0})
    silent = log_findings(profile, LintOptions(levels={rule: "ignore"}))
    assert rule not in [finding.rule for finding in silent]


def test_every_rule_has_a_fault_that_it_finds() -> None:
    tested = {rule for _, rule, _ in FAULTS.values()} | {"skipped-sessions"}
    assert tested == {each.name for each in log_rules()}


def test_sessions_that_a_lenient_reading_skips(folder: Path) -> None:
    rows = changed(lambda place, row: {"selected_rank": 99} if place < 40 else {})
    profile = LogProfile.of(write(rows), {"first_rank": 0, "lenient": True})
    found = {each.rule: each.what for each in log_findings(profile, LintOptions())}
    assert list(found) == ["skipped-sessions"]
    assert "40 x rank beyond the results" in found["skipped-sessions"]


def test_a_log_that_is_refused_is_profiled_all_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(impressions())
    out = output(capsys, "sessions", file)
    first, second = (line for line in out.splitlines() if line.startswith("  refused: "))
    assert "first_rank=0 or first_rank=1" in first
    assert 'selections_where={"action_name": ["click"]}' in second
    assert "action_name  -                100%  2: impression (" in out
    reading = [*READING, "--reading", "selections_where=action_name:click"]
    assert "refused" not in output(capsys, "sessions", file, *reading)
    broken = write([{"session_id": "a", "results": ["x"], "selected": "y"}, *clean()], "b.jsonl")
    out = output(capsys, "sessions", broken, *READING)
    assert "refused: b.jsonl:1: session 'a': 'y' was selected, but is not among the 1 result" in out
    assert "100 sessions" in out


def test_the_configuration_and_options_that_override_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"sid": row["session_id"]} | row for row in clean()]
    for row in rows:
        del row["session_id"]
    for part in range(2):
        write(rows[part::2], f"day-{part}.jsonl")
    Path("pyproject.toml").write_text(
        "[tool.pytest.ini_options]\n"
        'rankcheck_sessions = ["day-*.jsonl"]\n'
        'rankcheck_session_reading = ["first_rank=0"]\n'
    )
    assert "session log 'day' (100 sessions): 0 errors, 0 warnings" in output(capsys, "sessions")
    assert "session log 'day' (100 sessions): 0 errors" in output(capsys, "lint")
    for row in rows:
        row["who"] = row.pop("sid")
    for part in range(2):
        write(rows[part::2], f"day-{part}.jsonl")
    found = output(capsys, "sessions")
    assert "refused: day-0.jsonl:1: there is no session column" in found
    found = output(capsys, "sessions", "day-0.jsonl", "day-1.jsonl", "--columns", "session=who")
    assert "session log 'day-0' (100 sessions): 0 errors, 0 warnings" in found


def test_the_levels_of_rules_are_configured(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(FAULTS["repeated users"][0])
    for level, code in (("error", 1), ("warning", 0), ("ignore", 0)):
        Path("pyproject.toml").write_text(
            f"[tool.pytest.ini_options]\nrankcheck_lint = ['repeated-users={level}']\n"
        )
        out = output(capsys, "lint", file, *READING, code=code)
        assert (f"{level} repeated-users: " in out) == (level != "ignore")


def test_the_profile_of_user_behavior_insights(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries, events = [], []
    for number in range(60):
        time = START + 4000 * (number // 2) + number % 2
        query = {"query_id": f"q{number}", "client_id": f"c{number // 4}", "timestamp": time}
        queries.append(query | {"user_query": "x", "query_response_hit_ids": ["a", "b"]})
        what = {"object": {"object_id": "b"}, "position": {"ordinal": 2}}
        event = {"query_id": f"q{number}", "timestamp": time + 1, "event_attributes": what}
        events.append(event | {"action_name": "impression" if number % 3 else "click"})
    files = (
        "sessions",
        write(queries, "queries.jsonl"),
        "--ubi-events",
        write(events, "events.jsonl"),
    )
    out = output(capsys, *files)
    assert "session log 'queries' (queries.jsonl): 60 rows\n  30 sessions, 60 events" in out
    assert "selected ranks, from 1 (20 selections)" in out
    assert "40 events of other actions not counted: impression (40)" in out
    assert "(30 sessions): 0 errors, 1 warning\n  warning repeated-users: 'client_id' has 15" in out
    assert "15 sessions, 60 events" in output(capsys, *files, "--reading", "session_gap=2h")
    out = output(capsys, *files, "--columns", "query_id=id")
    assert "refused: neither the queries nor the events have a column 'id'" in out
    for more, says in (
        (["--reading", "time_unit=s"], "--reading time_unit=... does not apply to User Behavior"),
        (["--columns", "sid=x"], "columns: unknown field 'sid'"),
    ):
        assert main([*files, *more]) in (0, 2)
        captured = capsys.readouterr()
        assert says in captured.err + captured.out
    assert main(["sessions", "--ubi-events", "events.jsonl"]) == 2
    assert "--ubi-events: name the queries as well" in capsys.readouterr().err


def test_ids_and_values_are_escaped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = changed(lambda _, row: {"session_id": f"{row['session_id']}\x1b[31m", "x\ny": "\x07"})
    out = output(capsys, "sessions", write(rows), *READING)
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "s0\\x1b[31m" in out
    assert "x\\ny" in out


def test_show_has_the_means_of_a_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(clean())
    out = output(capsys, "show", file, *READING, "--by", "device")
    rows = clean()
    successes = {row["session_id"] for row in rows if row["selected_rank"] is not None}
    assert f"session log 'week': 100 sessions, {len(rows)} events" in out
    assert f"week         SuccessRate                       -  {len(successes) / 100:.4f}" in out
    assert "SuccessRate by device:\n  a  " in out
    out = output(capsys, "show", file, *READING, "--metric", "SuccessRate@3")
    assert "SuccessRate@3" in out
    assert "EventsPerSession" not in out
    assert main(["show", file]) == 2
    assert "first_rank=0 or first_rank=1" in capsys.readouterr().err


def test_golden_sets_and_logs_are_told_apart(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = write(
        [{"query_id": "q1", "query": "x", "relevance": {"d1": 1}, "sid": 3}], "web.jsonl"
    )
    log = write(clean())
    Path("track.xml").write_text("<sessiontrack2014></sessiontrack2014>")
    out = output(capsys, "lint", golden, log, *READING)
    assert "golden set 'web' (1 query): 0 errors" in out
    assert "session log 'week' (100 sessions): 0 errors" in out
    assert main(["lint", "track.xml"]) == 1
    assert "error refused-log: track.xml is empty" in capsys.readouterr().out
    assert main(["show", golden]) == 2
    assert "give its --golden set" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sessions"], "no session log: name one, or configure rankcheck_sessions"),
        (["sessions", "none.jsonl"], "none.jsonl: no such file"),
        (["sessions", "none-*.jsonl"], "no file matches 'none-*.jsonl'"),
        (["sessions", "week.jsonl", "--reading", "first=0"], "--reading: 'first=0' is invalid"),
        (["sessions", "week.jsonl", "--columns", "sid"], "--columns: 'sid' is not of the form"),
        (["lint"], "no golden set: name one, or configure rankcheck_golden"),
    ],
)
def test_an_error_has_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    write(clean())
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


def test_a_file_that_is_no_table(folder: Path) -> None:
    Path("week.jsonl").write_text("")
    with pytest.raises(SessionLogError, match=r"week.jsonl is empty"):
        LogProfile.of("week.jsonl", {})
