"""The declared world: recorded with the approved lines, compared when a gate fails."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import pytest
from project import Project, text_of

from pytest_rankcheck import ConfigurationError
from pytest_rankcheck.baselines.world import declared_world, world_changes

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
    lines = [each.removeprefix("E").strip() for each in text.splitlines()]
    heading = lines.index("what the 20 queries that fell in RR have in common")
    assert line in lines[heading + 1 : heading + 4], "among the causes"
    assert text.count(line) == 1
    assert "package:pytest" not in text
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
        ("models/*.bin", "rankcheck_world: 'models/*.bin' is not in "),
        ("/model.bin", "rankcheck_world: '/model.bin' is an absolute path"),
        ("package:no-such-package", "the package of 'package:no-such-package' is not installed"),
        ("package:", "rankcheck_world: the package of 'package:' is not installed"),
    ):
        with pytest.raises(ConfigurationError) as raised:
            declared_world([line], tmp_path)
        assert message in str(raised.value)


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
        ("return 3", "the fixture rankcheck_world failed: TypeError: 'int' object is not iterable"),
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


MODEL = """
import numpy as np
from pytest_rankcheck import rankers


class Sum:
    def predict(self, table):
        return np.nansum(table, axis=1)


def train():
    return rankers.model(Sum(), features={features})
"""


@pytest.fixture
def hotels(project: Project) -> Project:
    """A project whose model ranks candidates by three features, with a recorded baseline."""
    project.test()
    configuration = (project.path / "pyproject.toml").read_text("utf-8")
    kept = [line for line in configuration.splitlines() if not line.startswith("rankcheck_")]
    lines = ['rankcheck_golden = "web.csv"', 'rankcheck_ranker = "hotels:train()"']
    project.write("pyproject.toml", "\n".join([*kept, *lines]))
    declared(project, "model:features")
    project.write("web.csv", candidates("1", 1))
    project.write("hotels.py", MODEL.format(features=["stars", "price", "tax"]))
    project.update()
    return project


def candidates(price: str, tax: int) -> str:
    """Return four hotels for each query, best last; the price may be empty, the tax always 0."""
    rows = [
        f"q{query},d{place},{place},{place},{price and place},{tax * place},{-3 * place}"
        for query in range(30)
        for place in range(4)
    ]
    return "\n".join(["query_id,doc_id,relevance,stars,price,tax,rooms", *rows, ""])


def test_a_failure_says_which_features_the_model_takes_now(hotels: Project) -> None:
    assert hotels.record()["world"] == {
        f"feature {name}": "varying (order of 1)" for name in ("price", "stars", "tax")
    }  # fmt: skip
    hotels.write("hotels.py", MODEL.format(features=["rooms", "tax"]))
    text = text_of(hotels.run())
    gone = (
        "feature price, feature stars changed since the baseline: varying (order of 1) -> not there"
    )
    new = "feature rooms changed since the baseline: not there -> varying (order of -1)"
    assert f"E           world: {gone}; {new}\n" in text
    assert "feature tax" not in text


def test_what_changed_in_the_same_way_is_one_sentence() -> None:
    names = [f"feature {number:02}" for number in range(12)]
    before, now = dict.fromkeys(names, "varying"), dict.fromkeys(names, "missing")
    shown = ", ".join(names[:10])
    assert list(world_changes({**before, "index": "a"}, {**now, "index": "b"})) == [
        f"{shown} and 2 more changed since the baseline: varying -> missing",
        "index changed since the baseline: a -> b",
    ]
    assert list(world_changes({}, before)) == [
        f"{shown} and 2 more changed since the baseline: not there -> varying"
    ]
