"""The declared world: recorded with the approved lines, compared when a gate fails."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version

import pytest
from project import Project, text_of

WORSE: dict[int, int | None] = dict.fromkeys(range(20), 10)


def declared(project: Project, *lines: str) -> None:
    """Declare lines of rankcheck_world; no line: only the fixture counts."""
    configuration = (project.path / "pyproject.toml").read_text("utf-8")
    kept = [line for line in configuration.splitlines() if not line.startswith("rankcheck_world")]
    project.write("pyproject.toml", "\n".join([*kept, f"rankcheck_world = {json.dumps(lines)}"]))


@pytest.fixture
def indexed(project: Project) -> Project:
    """A project that declares its index and a package, with a recorded baseline."""
    project.test()
    project.write("index/stats.json", "one")
    declared(project, "index/stats.json", "package:pytest")
    project.update()
    return project


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_hashes_and_versions_are_recorded(indexed: Project) -> None:
    assert indexed.record()["world"] == {
        "index/stats.json": short_hash("one"),
        "package:pytest": version("pytest"),
    }


def test_the_same_results_give_the_same_bytes(indexed: Project) -> None:
    before = indexed.baseline_file().read_bytes()
    indexed.write("index/stats.json", "two")
    assert indexed.update() == before


def test_nothing_is_recorded_that_is_not_declared(project: Project) -> None:
    project.test()
    project.update()
    assert "world" not in project.record()


def test_a_world_that_is_declared_later_is_recorded_once_the_results_are_the_same(
    project: Project,
) -> None:
    project.test()
    project.rank({1: 2})
    project.update()
    project.write("index/stats.json", "one")
    declared(project, "index/stats.json")
    project.rank({1: 2, 2: 2})
    project.update()
    assert "world" not in project.record()
    project.rank({1: 2})
    project.update()
    assert project.record()["world"] == {"index/stats.json": short_hash("one")}


def test_raised_lines_have_the_world_of_now(indexed: Project) -> None:
    indexed.rank({1: 2})
    indexed.update("--rankcheck-approve", "a test")
    indexed.write("index/stats.json", "two")
    indexed.rank({})
    indexed.update()
    assert indexed.record()["world"]["index/stats.json"] == short_hash("two")


def test_a_failing_gate_says_what_changed_in_every_report(indexed: Project) -> None:
    indexed.write("index/stats.json", "two")
    indexed.rank(WORSE)
    reports = ("markdown", "html", "json")
    result = indexed.run(*(f"--rankcheck-{name}=r.{name}" for name in reports))
    result.assert_outcomes(failed=1)
    line = (
        "world: index/stats.json changed since the baseline: "
        f"{short_hash('one')} -> {short_hash('two')}"
    )
    text = text_of(result)
    assert line in text
    assert "world: package:pytest" not in text
    for name in reports:
        report = (indexed.path / f"r.{name}").read_text("utf-8")
        assert line in report.replace("&gt;", ">").replace("\\u003e", ">"), name


def test_a_failing_gate_says_that_nothing_changed(indexed: Project) -> None:
    indexed.rank(WORSE)
    text = text_of(indexed.run())
    assert "  world: the declared world has not changed since the baseline\n" in text


def test_rankings_that_changed_say_what_changed(indexed: Project) -> None:
    indexed.test(
        "from pytest_rankcheck import assert_ranking_stable\n"
        "def test_stable(ranking_run, baseline):\n"
        "    assert_ranking_stable(ranking_run, baseline)\n"
    )
    indexed.update()
    indexed.write("index/stats.json", "two")
    indexed.rank(WORSE)
    text = text_of(indexed.run())
    assert "the rankings on golden set 'web' (80 queries) differ from the baseline" in text
    assert "  world: index/stats.json changed since the baseline: " in text


def test_a_failing_gate_says_what_is_new_and_gone(indexed: Project) -> None:
    declared(indexed, "index", "package:pytest")
    indexed.rank(WORSE)
    text = text_of(indexed.run())
    digest = short_hash(f"{short_hash('one')} index/stats.json\n")
    assert f"  world: index {digest} (1 file) is not in the baseline\n" in text
    assert (
        f"  world: index/stats.json {short_hash('one')} is in the baseline, but no longer declared"
        in text
    )


def test_a_refused_update_says_what_changed(indexed: Project) -> None:
    indexed.write("index/stats.json", "two")
    indexed.rank(WORSE)
    result = indexed.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    assert "world: index/stats.json changed since the baseline" in text_of(result)


@pytest.mark.parametrize("line", ["index/*.bin", "index/**/*.bin", "index"])
def test_a_pattern_or_folder_has_one_hash_of_its_files(project: Project, line: str) -> None:
    project.test()
    declared(project, line)
    for name in ("b.bin", "a.bin", "deep/c.bin"):
        project.write(f"index/{name}", name)
    project.update()
    names = ["index/a.bin", "index/b.bin", "index/deep/c.bin"]
    names = names[:2] if line == "index/*.bin" else names
    whole = "".join(f"{short_hash(name.removeprefix('index/'))} {name}\n" for name in names)
    assert project.record()["world"] == {line: f"{short_hash(whole)} ({len(names)} files)"}


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(project: Project) -> None:
    project.test()
    declared(project, "index[1].bin")
    project.write("index[1].bin", "one")
    project.update()
    assert project.record()["world"] == {"index[1].bin": short_hash("one")}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("model.bin", "rankcheck_world: 'model.bin' is not in "),
        ("models/*.bin", "rankcheck_world: no file in "),
        ("/model.bin", "rankcheck_world: '/model.bin' is an absolute path"),
        (
            "package:no-such-package",
            "rankcheck_world: the package of 'package:no-such-package' is not installed",
        ),
        ("package:", "rankcheck_world: the package of 'package:' is not installed"),
    ],
)
def test_what_cannot_be_recorded_fails_the_update(
    project: Project, line: str, message: str
) -> None:
    project.test()
    declared(project, line)
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    assert message in text_of(result)
    assert not project.baseline_file().exists()


def test_a_gate_fails_with_its_own_text_where_the_world_is_unknown(indexed: Project) -> None:
    (indexed.path / "index/stats.json").unlink()
    indexed.run().assert_outcomes(passed=1)
    indexed.rank(WORSE)
    result = indexed.run()
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "RR regressed on golden set 'web'" in text
    assert (
        "world: it cannot be compared with that of the baseline: rankcheck_world: "
        "'index/stats.json' is not in "
    ) in text


FIXTURE = """
import pytest

@pytest.fixture(scope="session")
def rankcheck_world():
    {body}
"""


def test_a_fixture_adds_to_the_configuration(indexed: Project) -> None:
    indexed.write("conftest.py", FIXTURE.format(body='return {"index": "built on Monday"}'))
    indexed.rank({1: 2})
    indexed.update("--rankcheck-approve", "a test")
    assert indexed.record()["world"] == {
        "index": "built on Monday",
        "index/stats.json": short_hash("one"),
        "package:pytest": version("pytest"),
    }
    indexed.write("conftest.py", FIXTURE.format(body='return {"index": "built on Friday"}'))
    indexed.rank(WORSE)
    text = text_of(indexed.run())
    assert "world: index changed since the baseline: built on Monday -> built on Friday" in text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return None", "the fixture rankcheck_world returned None; return a mapping"),
        ('return {"index": 3}', "the fixture rankcheck_world returned {'index': 3}; return"),
        ('pytest.skip("no index")', "the fixture rankcheck_world failed: Skipped: no index"),
        ("1 / 0", "the fixture rankcheck_world failed: ZeroDivisionError: division by zero"),
        (
            'return {"index/stats.json": "x"}',
            "'index/stats.json' is both a line of rankcheck_world and a name that the fixture",
        ),
    ],
)
def test_an_invalid_fixture_fails_updates_and_does_not_hide_a_failing_gate(
    indexed: Project, body: str, message: str
) -> None:
    indexed.write("conftest.py", FIXTURE.format(body=body))
    result = indexed.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    assert message in text_of(result)
    indexed.rank(WORSE)
    result = indexed.run()
    result.assert_outcomes(failed=1)
    assert "RR regressed on golden set 'web'" in text_of(result)
    assert message in text_of(result)


def test_the_world_is_read_once_and_only_when_it_is_needed(indexed: Project) -> None:
    body = """
    with open("asked.txt", "a") as file:
        file.write("x")
    return {"index": "one"}
"""
    indexed.write("conftest.py", FIXTURE.format(body=body))
    test = "    assert_not_regressed(evaluation, baseline, 'RR')\n"
    indexed.test(
        "from pytest_rankcheck import assert_not_regressed\n"
        + "".join(f"def test_{name}(evaluation, baseline):\n{test}" for name in ("mrr", "two"))
    )
    asked = indexed.path / "asked.txt"
    indexed.run()
    assert not asked.exists(), "a missing baseline needs no world"
    indexed.run("--snapshot-update").assert_outcomes(passed=2)
    assert asked.read_text("utf-8") == "x"
