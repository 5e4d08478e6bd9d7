"""Ranking in a test session: saved runs, repetitions, times and progress."""

from __future__ import annotations

import os
import re
from itertools import count
from textwrap import dedent
from types import SimpleNamespace

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

from pytest_rankcheck import Run, progress
from pytest_rankcheck.plugin.ranking_progress import ranking_progress

TEST = """
from pytest_rankcheck import assert_mrr_at_least

def test_floor(evaluation):
    assert_mrr_at_least(evaluation, 0.1)
"""


ENGINE = """
def search(text):
    number = int(text.rpartition(" ")[2])
    ranked = [f"doc-{number}", "filler-0"]
    return ranked if number % 3 else ranked[::-1]
"""


@pytest.fixture
def project(project: Project) -> Project:
    """A project of 40 queries whose documents have ids without white space."""
    project.golden(
        [
            {"query_id": f"q{n:03}", "query": f"query {n}", "relevance": {f"doc-{n}": 1, "x": 0}}
            for n in range(40)
        ]
    )
    project.write("engine.py", ENGINE)
    return project


def write(project: Project, path: str, text: str) -> None:
    project.write(path, dedent(text))


def write_test(project: Project, text: str) -> None:
    project.test(dedent(text))


# --- --rankcheck-save-run and --rankcheck-run ----------------------------------------------------


@pytest.mark.parametrize("name", ["trec", "parquet", "csv", "jsonl"])
@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_saved_runs_are_used_instead_of_the_ranker(
    project: Project, name: str, workers: tuple[str, ...]
) -> None:
    if name == "parquet":
        pytest.importorskip("polars", reason="polars is not installed")
    project.test(TEST)
    saving = ("--rankcheck-save-run", "runs/today", "--rankcheck-save-run-format", name)
    first = project.run(*workers, *saving)
    assert first.ret == 0, text_of(first)
    (file,) = (project.path / "runs" / "today").iterdir()
    assert file.stem == "web"
    run = Run.load(file)
    assert len(run) == 40
    project.write("engine.py", "raise RuntimeError('the model is not here')")
    for given in ("runs/today", str(file)):
        again = project.run(*workers, "--rankcheck-run", given)
        assert again.ret == 0, text_of(again)
    rows = [re.search(r"web +RR.*", text_of(result)) for result in (first, again)]
    assert rows[0]
    assert rows[1]
    assert rows[0][0] == rows[1][0]


def test_each_golden_set_has_its_own_run_file(project: Project) -> None:
    project.test(TEST)
    golden = project.path / "golden"
    golden.mkdir(exist_ok=True)
    for name in ("one", "two words"):
        (golden / f"{name}.jsonl").write_text(
            '{"query_id": "a", "query": "query 0", "relevance": {"doc-0": 1}}\n'
        )
    arguments = [f"--rankcheck-golden=golden/{name}.jsonl" for name in ("one", "two words")]
    result = project.run(*arguments, "--rankcheck-save-run", "runs")
    files = sorted(file.name for file in (project.path / "runs").iterdir())
    assert files[0] == "one.run"
    assert re.fullmatch(r"two_words~\w{10}\.run", files[1])
    back = project.run(*arguments, "--rankcheck-run", "runs")
    assert text_of(result).count("FAILED") == text_of(back).count("FAILED")
    assert "ERROR" not in text_of(back)


def test_a_folder_without_the_run_is_reported(project: Project) -> None:
    project.test(TEST)
    (project.path / "runs").mkdir()
    (project.path / "runs" / "other.run").write_text("q Q0 d 1 1 t\n")
    result = project.run("--rankcheck-run", "runs")
    assert (
        "no run of golden set 'web' (looked for web.run, web.parquet, web.csv, web.jsonl, a folder "
        "web and files part-*); the folder has other.run"
    ) in text_of(result)
    for ending in ("run", "csv"):
        (project.path / "runs" / f"web.{ending}").write_text("")
    assert "several runs of golden set 'web'" in text_of(project.run("--rankcheck-run", "runs"))


@pytest.mark.parametrize("newer", ["web/part-0.csv", "part-0.csv", "web.csv"])
def test_an_old_run_beside_a_newer_one_is_not_taken(project: Project, newer: str) -> None:
    """Last week one machine ranked, and saved a file; this week a cluster wrote parts beside it."""
    project.test(TEST)
    rows = [f"q{query:03},doc-{query},1\n" for query in range(40)]
    (project.path / "runs").mkdir()
    lines = [f"q{query:03} Q0 doc-{query} 1 1 old\n" for query in range(40)]
    (project.path / "runs" / "web.run").write_text("".join(lines))
    assert project.run("--rankcheck-run", "runs").ret == 0
    (project.path / "runs" / newer).parent.mkdir(exist_ok=True)
    (project.path / "runs" / newer).write_text("".join(["query_id,doc_id,score\n", *rows]))
    result = project.run("--rankcheck-run", "runs")
    assert result.ret != 0
    assert "several runs of golden set 'web'" in text_of(result)


def test_the_summary_says_how_old_saved_rankings_are(project: Project) -> None:
    project.test(TEST)
    assert project.run("--rankcheck-save-run", "runs").ret == 0
    file = project.path / "runs" / "web.run"
    assert "old (written" not in text_of(project.run("--rankcheck-run", "runs"))
    os.utime(file, (1_700_000_000, 1_700_000_000))
    for given in ("runs", "runs/web.run"):
        text = text_of(project.run("--rankcheck-run", given))
        assert re.search(
            r"the rankings in \S*web\.run are [\d,]+ days old \(written 2023-11-14 22:13 UTC\)",
            text,
        )


def test_ids_with_white_space_are_kept_in_json_lines(project: Project) -> None:
    project.write("engine.py", "def search(text): return ['doc-' + text.split()[1], 'a b']")
    project.test(TEST)
    assert project.run("--rankcheck-save-run", "runs").ret == 0
    assert [file.name for file in (project.path / "runs").iterdir()] == ["web.jsonl"]
    result = project.run("--rankcheck-save-run", "runs", "--rankcheck-save-run-format", "trec")
    assert "'a b' cannot be an id in TREC files" in text_of(result)


def test_two_rankers_are_not_saved_to_the_same_file(project: Project) -> None:
    write(
        project,
        "tests/conftest.py",
        """
        import pytest

        @pytest.fixture(scope="session", params=["good", "other"])
        def ranker(request):
            import engine
            return engine.search if request.param == "good" else lambda text: ["x", *engine.search(text)]
        """,
    )
    project.test(TEST)
    result = project.run("--rankcheck-save-run", "runs")
    result.assert_outcomes(passed=2)
    assert sorted(file.name for file in (project.path / "runs").iterdir()) == [
        "web-1.run",
        "web.run",
    ]
    runs = [Run.load(project.path / "runs" / name) for name in ("web.run", "web-1.run")]
    assert runs[1]["q000"][0] == "x" != runs[0]["q000"][0]


# --- --rankcheck-repeat --------------------------------------------------------------------------

CHANGING = """
from itertools import count

CALLS = count()

def search(text):
    number = int(text.rpartition(" ")[2])
    ranked = [f"doc-{number}", "filler-0", "filler-1"]
    return ranked if number or next(CALLS) == 0 else ranked[::-1]
"""


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_nondeterministic_ranker_is_reported(project: Project, workers: tuple[str, ...]) -> None:
    project.write("engine.py", CHANGING)
    project.test(TEST)
    result = project.run(*workers, "--rankcheck-repeat", "3")
    assert result.ret == 0, text_of(result)
    text = text_of(result)
    assert "3 runs of the same ranker:" in text
    assert "not deterministic: 1 of 40 queries is ranked differently (q000)" in text
    # RR of q000 is 1, 1/3, 1/3: means differ by (2/3)/40 = 1/60, deviation 1/60/sqrt(3) = 0.009623
    assert "RR has a standard deviation of 0.009623" in text


def test_a_deterministic_ranker_is_reported(project: Project) -> None:
    project.test(TEST)
    text = text_of(project.run("--rankcheck-repeat", "2"))
    assert "2 runs of the same ranker:" in text
    assert "all rankings are the same" in text
    assert "runs of the same ranker" not in text_of(project.run())
    assert "--rankcheck-repeat = 0 is invalid; give a whole number from 1 on" in text_of(
        project.run("--rankcheck-repeat", "0")
    )


# --- time and conditions -------------------------------------------------------------------------


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_the_summary_shows_the_time_per_query(project: Project, workers: tuple[str, ...]) -> None:
    write(
        project,
        "engine.py",
        """
        class Clock:
            now = 0.0

            def perf_counter(self):
                return self.now

        clock = Clock()

        def search(text):
            number = int(text.rpartition(" ")[2])
            clock.now += 0.5 if number == 7 else 0.25
            return [f"doc-{number}"]
        """,
    )
    write(
        project,
        "tests/conftest.py",
        """
        import engine
        import pytest
        from pytest_rankcheck.rankers import adapter_protocol

        @pytest.fixture(scope="session", autouse=True)
        def clock():
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setattr(adapter_protocol, "time", engine.clock)
                yield
        """,
    )
    project.test(TEST)
    text = text_of(project.run(*workers))
    assert "golden set 'web': p50 250 ms, p95 250 ms; slowest q007 500 ms, q" in text


def test_conditions_of_async_rankers_are_configured(project: Project) -> None:
    write(
        project,
        "engine.py",
        """
        import asyncio

        now = most = 0
        tried = set()

        async def search(text):
            global now, most
            number = int(text.rpartition(" ")[2])
            if number == 3 and number not in tried:
                tried.add(number)
                raise ConnectionResetError("try again")
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            now -= 1
            return [f"doc-{number}"]
        """,
    )
    write_test(
        project,
        """
        import engine

        def test_floor(evaluation):
            assert engine.most == 3
            assert engine.tried == {3}
        """,
    )
    ini = project.path / "pyproject.toml"
    text = ini.read_text()
    lines = (
        "rankcheck_concurrency = 3",
        "rankcheck_retries = 1",
        'rankcheck_retry_on = ["ConnectionError"]',
        'rankcheck_timeout = "5"',
    )
    ini.write_text("\n".join((text, *lines)))
    result = project.run()
    assert result.ret == 0, text_of(result)
    ini.write_text(text + 'rankcheck_timeout = "soon"\n')
    assert "rankcheck_timeout = soon is invalid; give a number of seconds above 0" in text_of(
        project.run()
    )
    ini.write_text(text + "rankcheck_concurrency = 0\n")
    assert "rankcheck_concurrency = 0 is invalid; give a whole number from 1 on" in text_of(
        project.run()
    )


def test_adapters_and_retrievers_can_be_configured_as_the_ranker(project: Project) -> None:
    write(
        project,
        "engine.py",
        """
        from pytest_rankcheck import rankers

        def many(texts):
            return [[f"doc-{text.rpartition(' ')[2]}"] for text in texts]

        search = rankers.batch(many)

        class Retriever:
            def invoke(self, text):
                from types import SimpleNamespace
                return [SimpleNamespace(id=many([text])[0][0], metadata={})]
        """,
    )
    project.test(TEST)
    for ranker in ("engine:search", "engine:Retriever()"):
        result = project.run("--rankcheck-ranker", ranker)
        assert result.ret == 0, text_of(result)


# --- progress ------------------------------------------------------------------------------------


def test_progress_in_a_log_is_an_occasional_line(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.test(TEST)

    def lines_with(seconds_a_query: float) -> list[str]:
        ticks = count(step=seconds_a_query)
        clock = SimpleNamespace(monotonic=lambda: next(ticks))
        monkeypatch.setattr(progress, "time", clock)
        return re.findall("^rankcheck: ranking .*", text_of(project.run()), re.M)

    # A line every 30 s; 8 s per query: after 4 queries, 8, ...
    assert lines_with(8) == [
        f"rankcheck: ranking 'web': {done} of 40 queries, 0.1 a second, {320 - 8 * done} s to go"
        for done in range(4, 40, 4)
    ]
    assert lines_with(0.7) == []


def test_progress_in_a_terminal_is_a_bar_for_slow_rankers_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reporter = SimpleNamespace(isatty=True)
    config = SimpleNamespace(
        option=SimpleNamespace(verbose=0),
        pluginmanager=SimpleNamespace(
            get_plugin=lambda name: reporter if name == "terminalreporter" else None
        ),
    )
    for seconds, shown in ((0.0, True), (60.0, False)):
        monkeypatch.setattr(progress, "SECONDS_BEFORE", seconds)
        with ranking_progress(config, "web", 2) as show:  # type: ignore[arg-type]
            assert show is not None
            for done in range(1, 6):
                show(done, 5)
        assert ("ranking 'web' (2):" in capsys.readouterr().out) == shown


def test_a_worker_of_xdist_shows_no_progress(pytestconfig: pytest.Config) -> None:
    worker = SimpleNamespace(
        workerinput={}, pluginmanager=pytestconfig.pluginmanager, option=pytestconfig.option
    )
    with ranking_progress(worker, "web", 1) as show:  # type: ignore[arg-type]
        assert show is None
