"""Session logs in a test session: fixtures, configuration, gates, baselines, reports."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from project import Project, text_of

import pytest_rankcheck.reports.report_data as report_module

TEST = """
from pytest_rankcheck import Gate, assert_not_regressed, assert_session_mrr_not_regressed
from pytest_rankcheck import assert_success_rate_at_least

def test_success(session_evaluation):
    assert_success_rate_at_least(session_evaluation, 0.5, k=3, by="group")

def test_mrr(session_evaluation, baseline):
    assert_session_mrr_not_regressed(
        session_evaluation, baseline, abandoned="zero", gate=Gate.significant(), by="group"
    )
"""


def log(project: Project, week: int, ranks: list[int | None], **more: Any) -> None:
    """Write the log of a week; its sessions differ from those of other weeks."""
    lines = [
        {
            "session_id": f"week{week}-{number}",
            "event": 0,
            "time": 1_700_000_000 + number,
            "query": f"query {number}",
            "results": [f"d{place}" for place in range(5)],
            "selected_rank": rank,
            "group": "AB"[number % 2],
            **more,
        }
        for number, rank in enumerate(ranks)
    ]
    project.write("logs/week.jsonl", "".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def sessions(project: Project) -> Project:
    project.write(
        "pyproject.toml",
        "[tool.pytest.ini_options]\n"
        'rankcheck_sessions = "logs/week.jsonl"\n'
        'rankcheck_session_reading = ["first_rank=0", "attributes=group"]\n'
        'rankcheck_metrics = ["SuccessRate", "nDCG@10"]\n',
    )
    log(project, 1, [0, 1, 0, 0, 2, 0, 0, None] * 12)
    project.test(TEST)
    return project


def test_a_baseline_of_last_week_gates_the_log_of_this_week(sessions: Project) -> None:
    assert sessions.run("--snapshot-update").ret == 0
    record = sessions.record(golden="week")
    assert list(record["metrics"]) == ["SessionRR(abandoned=zero)", "SuccessRate"]
    assert record["queries"][0]["slices"] == {"group": ["A"]}
    log(sessions, 2, [0, 1, 0, 0, 2, 0, 0, None] * 11)
    result = sessions.run()
    result.assert_outcomes(passed=2)
    assert "session log  metric" in text_of(result)
    log(sessions, 3, [3, 4, 2, None, 2, 4, 2, None] * 12)
    result = sessions.run()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*SuccessRate@3 is 0.3750 on session log 'week' (96 sessions); it must be at least*",
            "*SessionRR(abandoned=zero) regressed on session log 'week' (96 sessions)*",
            "*96 sessions in the baseline, 96 now: different sessions, so compared as two samples*",
            "*group=B  *(48 sessions, regressed*",
        ]
    )
    text = text_of(result)
    assert "--rankcheck-approve" in text
    assert "stale" not in text
    assert "since the baseline" not in text


def test_an_update_replaces_last_week(sessions: Project) -> None:
    assert sessions.run("--snapshot-update").ret == 0
    log(sessions, 2, [0] * 39 + [None])
    assert sessions.run("--snapshot-update").ret == 0
    assert sessions.record(golden="week")["golden_set"]["queries"] == 40
    # Worse, inside the gate's tolerance: kept.
    log(sessions, 3, [0] * 38 + [1, None])
    assert sessions.run("--snapshot-update").ret == 0
    assert sessions.record(golden="week")["queries"][0]["id"].startswith("week2")


def test_users_are_independent_if_the_configuration_says_so(sessions: Project) -> None:
    sessions.test(
        TEST
        + """

def test_replay(session_log, session_evaluation):
    assert session_log.to_golden_set(uncorrected=True).cluster_by == "user"
    assert session_evaluation.golden.cluster_by == "user"
"""
    )
    ini = sessions.path / "pyproject.toml"
    text = ini.read_text().replace("attributes=group", "attributes=group,user")
    ini.write_text(text + 'rankcheck_session_clusters = "user"\n')
    log(sessions, 1, [0, 1, 0, 0, 2, 0, 0, None] * 12, user="u1")
    rows = (sessions.path / "logs/week.jsonl").read_text().splitlines()
    users = [{**json.loads(row), "user": f"u{n % 24}"} for n, row in enumerate(rows)]
    sessions.write("logs/week.jsonl", "".join(json.dumps(row) + "\n" for row in users))
    result = sessions.run("--snapshot-update")
    result.assert_outcomes(passed=3)
    assert "not independent" not in text_of(result)
    record = sessions.record(golden="week")
    assert record["clusters"] == {"by": "user"}
    assert len({line["cluster"] for line in record["queries"]}) == 24
    ini.write_text(text)
    result = sessions.run()
    result.assert_outcomes(passed=1, failed=2)
    assert "clusters: 'user' in the baseline, none now" in text_of(result)
    assert "the attribute 'user' repeats: 24 of its values have 96 sessions" in text_of(result)
    ini.write_text(text + 'rankcheck_session_clusters = "usr"\n')
    result = sessions.run()
    assert "has no attribute 'usr'; did you mean 'user'?" in text_of(result)


def test_sessions_set_aside_are_in_the_summary(sessions: Project) -> None:
    log(sessions, 1, [0, 9, 1] * 4)
    result = sessions.run("-k", "success")
    result.assert_outcomes(errors=1)
    assert "rank is 9, counted from 0, but 5 results were shown" in text_of(result)
    ini = sessions.path / "pyproject.toml"
    ini.write_text(ini.read_text().replace('"attributes', '"lenient=true", "attributes'))
    result = sessions.run("-k", "success")
    result.assert_outcomes(passed=1)
    assert "session log 'week': 4 rows set aside from 4 sessions: 4 x rank beyond" in text_of(
        result
    )


def test_reports_of_sessions(sessions: Project) -> None:
    assert sessions.run("--snapshot-update").ret == 0
    log(sessions, 3, [3, 4, 2, None, 2, 4, 2, None] * 12)
    paths = {kind: sessions.path / f"report.{kind}" for kind in ("json", "markdown", "html")}
    result = sessions.run(
        *(f"--rankcheck-{kind}={path}" for kind, path in paths.items()),
        f"--rankcheck-unjudged={sessions.path / 'judge.csv'}",
    )
    result.assert_outcomes(failed=2)
    report = json.loads(paths["json"].read_text("utf-8"))
    schema = Path(report_module.__file__).with_name("report.schema.json").read_text("utf-8")
    jsonschema.validate(report, json.loads(schema))
    assert report["measurements"][0]["unit"] == "sessions"
    gate = next(one for one in report["gates"] if one["metric"].startswith("SessionRR"))
    assert gate["outcome"] == "regressed"
    assert gate["overall"]["before"] == pytest.approx(0.75, abs=0.1)
    measurement = report["measurements"][0]
    means = measurement["means"]["SessionRR(abandoned=zero)"]
    assert means == [gate["overall"]["before"], gate["overall"]["now"]]
    assert "96 sessions, different from those in the baseline" in paths["markdown"].read_text(
        "utf-8"
    )
    assert "SessionRR" in paths["html"].read_text("utf-8")


def log_of_groups(
    project: Project, week: int, a: int, b: int, tenths: tuple[int, int] = (9, 3)
) -> None:
    """Write a log of two groups, of whose sessions so many tenths succeed."""
    lines = [
        {
            "session_id": f"week{week}-{group}{number}",
            "event": 0,
            "results": ["d0", "d1"],
            "selected_rank": 0 if number % 10 < successes else None,
            "group": group,
        }
        for group, count, successes in (("A", a, tenths[0]), ("B", b, tenths[1]))
        for number in range(count)
    ]
    project.write("logs/week.jsonl", "".join(json.dumps(line) + "\n" for line in lines))


def test_a_gate_at_the_mix_of_the_baseline(sessions: Project) -> None:
    """The means of the logs are 0.72 and 0.48, and those of the groups are the same in both."""
    sessions.test(
        "from pytest_rankcheck import Gate, assert_not_regressed\n\n"
        "def test_mix(session_evaluation, baseline):\n"
        "    assert_not_regressed(\n"
        "        session_evaluation, baseline, 'SuccessRate', gate=Gate.significant(),\n"
        "        standardise='group',\n"
        "    )\n"
    )
    log_of_groups(sessions, 1, 140, 60)
    assert sessions.run("--snapshot-update").ret == 0
    queries = sessions.record("test_mix", golden="week")["queries"]
    assert [query["slices"] for query in queries] == [{"group": ["A"]}] * 140 + [
        {"group": ["B"]}
    ] * 60
    log_of_groups(sessions, 2, 60, 140)
    paths = {kind: sessions.path / f"report.{kind}" for kind in ("json", "markdown", "html")}
    result = sessions.run(*(f"--rankcheck-{kind}={path}" for kind, path in paths.items()))
    result.assert_outcomes(passed=1)
    (gate,) = json.loads(paths["json"].read_text("utf-8"))["gates"]
    assert gate["outcome"] == "equal"
    (effect,) = gate["mixes"]
    assert (effect["attribute"], effect["of"]) == ("group", "the baseline")
    assert effect["at_mix"] == pytest.approx(0, abs=1e-9)
    assert effect["mix"] == pytest.approx(0.48 - 0.72)
    says = (
        "+0.0000 at the baseline's mix of group, which decides; as it is, -0.2400; -0.2400 is mix"
    )
    assert says in text_of(result)
    for kind in ("markdown", "html"):
        assert says in shown(paths[kind])
    log_of_groups(sessions, 3, 60, 140, tenths=(7, 2))  # 0.7 * 0.7 + 0.3 * 0.2 is 0.55
    result = sessions.run(f"--rankcheck-markdown={paths['markdown']}")
    result.assert_outcomes(failed=1)
    assert "-0.1700 at the baseline's mix of group; -0.2000 is mix." in shown(paths["markdown"])


def shown(path: Path) -> str:
    """Return a report without the backslashes and entities by which it escapes text."""
    return html.unescape(path.read_text("utf-8").replace("\\", ""))


def test_several_logs_and_options_of_the_command_line(sessions: Project) -> None:
    first = (sessions.path / "logs/week.jsonl").read_text()
    sessions.write("logs/other.jsonl", first)
    result = sessions.run(
        "--rankcheck-sessions=logs/week.jsonl", "--rankcheck-sessions=logs/other.jsonl",
        "-k", "success", "-v",
    )  # fmt: skip
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_success?week?*", "*test_success?other?*"])


def test_which_rows_are_selections(sessions: Project) -> None:
    lines = [
        {"session_id": f"s{number}", "search_id": "q", "position": rank, "what": what}
        for number in range(20)
        for rank, what in enumerate(("shown", "tap", "buy" if number else "shown"))
    ]
    sessions.write("logs/week.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    sessions.test(
        "from pytest_rankcheck import assert_at_least\n"
        "def test_all(session_evaluation):\n"
        "    assert_at_least(session_evaluation, 'SuccessRate', 1)\n"
        "def test_buy(session_evaluation):\n"
        "    assert session_evaluation.mean('SuccessRate(rel=2)') == 0.95\n"
    )
    reading = '["first_rank=0", "selections_where=what:tap|click", "grades=buy:2"]'
    sessions.write(
        "pyproject.toml", f"[tool.pytest.ini_options]\nrankcheck_session_reading = {reading}\n"
    )
    sessions.run("--rankcheck-sessions=logs/week.jsonl").assert_outcomes(passed=2)


def test_clients_copies_and_bots(sessions: Project) -> None:
    def line(client: str, time: int) -> dict[str, object]:
        return {"client": client, "time": 1_700_000_000 + time, "selected": None}

    lines = [line("a", 0), line("a", 7200), line("a", 7200), line("b", 0)]
    lines += [line("bot", time) for time in range(50)]
    sessions.write("logs/week.jsonl", "".join(json.dumps(each) + "\n" for each in lines))
    sessions.test(
        "def test_it(session_evaluation):\n"
        "    assert len(session_evaluation.query_ids) == 3\n"
        "    assert session_evaluation.mean('EventsPerSession') == 1\n"
    )
    reading = '["session_gap=30min", "duplicates=drop", "drop_sessions_over=20"]'
    sessions.write(
        "pyproject.toml",
        "[tool.pytest.ini_options]\n"
        'rankcheck_session_columns = "session=client"\n'
        f"rankcheck_session_reading = {reading}\n",
    )
    result = sessions.run("--rankcheck-sessions=logs/week.jsonl")
    result.assert_outcomes(passed=1)
    text = " ".join(text_of(result).split())
    assert "1 identical row dropped" in text
    assert "1 session with more than 20 events dropped, with 50 events in all" in text


def test_a_pattern_is_one_log_of_several_files(sessions: Project) -> None:
    lines = (sessions.path / "logs/week.jsonl").read_text().splitlines(keepends=True)
    for place in range(3):
        sessions.write(f"logs/2026-11-{place + 9}.jsonl", "".join(lines[place::3]))
    sessions.test(
        "def test_log(session_log):\n"
        "    assert (session_log.name, len(session_log)) == ('2026-11', 96)\n"
    )
    sessions.run("--rankcheck-sessions=logs/2026-11-*.jsonl").assert_outcomes(passed=1)
    several = ["--rankcheck-sessions=logs/week.jsonl", "--rankcheck-sessions=logs/2026-11-*"]
    both = sessions.run("-v", *several)
    both.stdout.fnmatch_lines(["*test_log?week? FAILED*", "*test_log?2026-11? PASSED*"])
    result = sessions.run("--rankcheck-sessions", "logs/2027-*.jsonl")
    assert "2027-*.jsonl matches no file; correct rankcheck_sessions" in text_of(result)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('rankcheck_session_reading = ["first_rank=2"]', "rankcheck_session_reading: 'first_rank=2'"),
        ('rankcheck_session_reading = ["units=s"]', "'units=s' is invalid; write first_rank=0"),
        ('rankcheck_session_reading = ["grades=buy"]', "'grades=buy' is invalid; write first_rank"),
        ('rankcheck_session_reading = ["grades=a:1,b:c"]', "'grades=a:1,b:c' is invalid; write"),
        ('rankcheck_session_reading = ["duplicates=yes"]', "'duplicates=yes' is invalid; write"),
        ('rankcheck_session_reading = ["drop_sessions_over=0"]', "'drop_sessions_over=0' is inva"),
        ('rankcheck_session_reading = ["selections_where=a"]', "'selections_where=a' is invalid"),
        ('rankcheck_session_columns = ["sid"]', "rankcheck_session_columns: 'sid' is not of the form"),
        ('rankcheck_sessions = "logs/none.jsonl"', "none.jsonl does not exist"),
        ("", "no session log: the fixture session_log needs one"),
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_a_usage_error(project: Project, line: str, message: str) -> None:
    project.write("pyproject.toml", f"[tool.pytest.ini_options]\n{line}\n")
    project.test(TEST)
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in text_of(result)


def test_a_log_of_your_own_fixture_and_a_parameter(project: Project) -> None:
    project.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    log(project, 1, [0, 1, None])
    project.test(
        """
import pytest
from pytest_rankcheck import SessionLog, assert_success_rate_at_least

LOG = SessionLog.load("logs/week.jsonl", first_rank=0)

@pytest.mark.parametrize("session_log", [LOG], indirect=True)
def test_given(session_evaluation):
    assert_success_rate_at_least(session_evaluation, 0.6)

class TestOwn:
    @pytest.fixture(scope="session")
    def session_log(self):
        return LOG

    def test_own(self, session_evaluation):
        assert_success_rate_at_least(session_evaluation, 0.6)
"""
    )
    project.run().assert_outcomes(passed=2)


def test_a_replay_in_a_session(sessions: Project) -> None:
    sessions.test(
        """
import pytest
from pytest_rankcheck import assert_mrr_not_regressed

@pytest.fixture(scope="session")
def golden_set(session_log):
    return session_log.to_golden_set("all", propensity="power(1)")

@pytest.fixture(scope="session")
def ranker():
    def rerank(query: str, candidates: list[str]) -> list[str]:
        from pathlib import Path
        return candidates[::-1] if Path("worse").exists() else candidates
    return rerank

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.02)
"""
    )
    assert sessions.run("--snapshot-update").ret == 0
    assert sessions.record(golden="week")["queries"][0]["weight"] == 1.0
    sessions.run().assert_outcomes(passed=1)
    for workers in ((), ("-n", "2")):
        sessions.write("worse", "")
        result = sessions.run(*workers)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "*RR regressed on golden set 'week' (84 queries)*",
                "*in 84 clusters (such as sessions or users), each one independent unit*",
                "*weighted: the effective sample size of 84 queries is *",
            ]
        )


def test_the_approval_of_a_log_names_the_log(sessions: Project) -> None:
    assert sessions.run("--snapshot-update").ret == 0
    log(sessions, 3, [3, 4, 2, None, 2, 4, 2, None] * 12)
    (sessions.path / "logs").rename(sessions.path / "next")
    log(sessions, 1, [0, 1, 0, 0, 2, 0, 0, None] * 12)
    given = "--rankcheck-sessions=next/week.jsonl"
    result = sessions.run(given)
    assert f"pytest tests/test_ranking.py::test_mrr {given} --snapshot-update" in text_of(result)
    result = sessions.run("--snapshot-update", "--rankcheck-approve", "why", "-k", "mrr")
    assert "--rankcheck-approve had no effect: nothing fell" in text_of(result)


def test_run_metrics_alone_have_a_summary(project: Project) -> None:
    project.test(
        "from pytest_rankcheck import assert_at_most\n\n"
        'def test_it(evaluation):\n    assert_at_most(evaluation, "NoResults", 0.1)\n'
    )
    result = project.run()
    result.assert_outcomes(passed=1)
    assert "golden set  metric" in text_of(result)


def test_an_unsuitable_gate_is_reported_before_there_is_a_baseline(sessions: Project) -> None:
    sessions.test(
        "from pytest_rankcheck import Gate, assert_not_regressed\n\n"
        "def test_mrr(session_evaluation, baseline):\n"
        '    assert_not_regressed(session_evaluation, baseline, "MedianSessionDuration", '
        "gate=Gate.significant())\n"
    )
    result = sessions.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    assert "has a median over the sessions" in text_of(result)
    assert not sessions.baseline_file(golden="week").exists()


def test_the_first_test_without_configuration_is_named(project: Project) -> None:
    project.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    project.test(TEST)
    assert "(asked for by tests/test_ranking.py::test_success)" in text_of(project.run())
