"""Ranking in a test session: saved runs, repetitions, times and progress."""

import re
from types import SimpleNamespace

import pytest
from project import FLOOR_TEST, WITHOUT_AND_WITH_WORKERS, Project, text_of

from pytest_rankcheck import Run
from pytest_rankcheck.plugin import ranking_runs
from pytest_rankcheck.plugin.ranking_runs import ranking_progress

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


# --- --rankcheck-save-run and --rankcheck-run ----------------------------------------------------


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_saved_runs_are_used_instead_of_the_ranker(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.test(FLOOR_TEST)
    first = project.run(*workers, "--rankcheck-save-run", "runs/today")
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
    project.test(FLOOR_TEST)
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


# --- progress ------------------------------------------------------------------------------------


def test_progress_in_a_terminal_is_a_bar_for_slow_rankers_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reporter = SimpleNamespace(isatty=True, write=lambda text, flush: print(text))
    config = SimpleNamespace(
        option=SimpleNamespace(verbose=0),
        pluginmanager=SimpleNamespace(
            get_plugin=lambda name: reporter if name == "terminalreporter" else None
        ),
    )
    for seconds, shown in ((0.0, True), (60.0, False)):
        monkeypatch.setattr(ranking_runs, "SECONDS_BEFORE", seconds)
        with ranking_progress(config, "web", 2) as show:  # type: ignore[arg-type]
            assert show is not None
            for done in range(1, 6):
                show(done, 5)
        assert ("ranking 'web' (2):" in capsys.readouterr().out) == shown
