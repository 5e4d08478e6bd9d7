"""The declared world: recorded with the approved lines, compared when a gate fails."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import pytest
from project import Project, text_of

from pytest_rankcheck import ConfigurationError
from pytest_rankcheck.baselines.world import declared_world

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


def test_a_pattern_or_folder_has_one_hash_of_its_files(tmp_path: Path) -> None:
    names = ["index/a.bin", "index/b.bin", "index/deep/c.bin"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name.removeprefix("index/"))
    for line, count in (("index/*.bin", 2), ("index/**/*.bin", 3), ("index", 3)):
        hashed = "".join(f"{short_hash(n.removeprefix('index/'))} {n}\n" for n in names[:count])
        expected = {line: f"{short_hash(hashed)} ({count} files)"}
        assert declared_world([line], tmp_path) == expected


def test_what_cannot_be_recorded_is_an_error(tmp_path: Path) -> None:
    for line, message in (
        ("model.bin", "rankcheck_world: 'model.bin' is not in "),
        ("models/*.bin", "rankcheck_world: no file in "),
        ("/model.bin", "rankcheck_world: '/model.bin' is an absolute path"),
        ("package:no-such-package", "the package of 'package:no-such-package' is not installed"),
        ("package:", "rankcheck_world: the package of 'package:' is not installed"),
    ):
        with pytest.raises(ConfigurationError) as raised:
            declared_world([line], tmp_path)
        assert message in str(raised.value)


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


def test_an_invalid_fixture_fails_updates_and_does_not_hide_a_failing_gate(
    indexed: Project,
) -> None:
    for body, message in (
        ('return {"index": 3}', "the fixture rankcheck_world returned {'index': 3}; return a map"),
        ('pytest.skip("no index")', "the fixture rankcheck_world failed: Skipped: no index"),
    ):
        indexed.write("conftest.py", FIXTURE.format(body=body))
        indexed.rank({})
        result = indexed.run("--snapshot-update")
        result.assert_outcomes(failed=1)
        assert message in text_of(result)
        indexed.rank(WORSE)
        result = indexed.run()
        result.assert_outcomes(failed=1)
        assert "RR regressed on golden set 'web'" in text_of(result)
        assert message in text_of(result)
