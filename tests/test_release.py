"""What a release needs: one version everywhere, and a workflow that runs as far as the upload."""

import ast
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from workflow import ROOT, GitHub, Steps

import pytest_rankcheck

VERSION = pytest_rankcheck.__version__
WORKFLOWS = ROOT / ".github" / "workflows"
pytestmark = [
    pytest.mark.needs("yaml"),
    pytest.mark.skipif(not (WORKFLOWS.exists() and shutil.which("bash")), reason="no workflows"),
]
NOX = (
    '#!/bin/sh\necho "$@" >>nox.log\nmkdir -p dist && touch dist/package.whl dist/package.tar.gz\n'
)
CHECKED = (
    "pytest_rankcheck/__init__.py",
    "CITATION.cff",
    "CHANGELOG.md",
    "README.md",
    "docs/ci.md",
)


def workflow(name: str) -> Any:
    import yaml

    return yaml.safe_load((WORKFLOWS / name).read_text("utf-8"))


def test_one_version_everywhere() -> None:
    import yaml

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == VERSION
    ci = (ROOT / "docs" / "ci.md").read_text("utf-8")
    assert re.findall(r"pytest_rankcheck-([\d.]+)-py3", ci) == [VERSION]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(
        rf"Version {re.escape(VERSION)} |^## \[{re.escape(VERSION)}\]", changelog, re.M
    )


def test_every_session_of_nox_is_run_when_its_tag_says() -> None:
    tags: dict[str, str] = {}
    for function in ast.parse((ROOT / "noxfile.py").read_text("utf-8")).body:
        if isinstance(function, ast.FunctionDef):
            marks = "".join(map(ast.unparse, function.decorator_list))
            if "nox.session" in marks:
                tags[function.name] = "".join(re.findall(r"tags=\['(\w+)'\]", marks))

    def run_by(file: str) -> set[str]:
        return {*re.findall(r'session:? "?([a-z]+)', (WORKFLOWS / file).read_text("utf-8"))}

    every_change = {name for name, tag in tags.items() if not tag}
    loops = re.findall(r"^for session in (.*);", (ROOT / ".ci" / "run").read_text("utf-8"), re.M)
    assert {*re.findall(r"([a-z]+)[^ ]*", " ".join(loops))} == every_change
    assert run_by("ci.yml") == every_change
    takes_hours = {"benchmark"}
    assert run_by("nightly.yml") == {n for n, tag in tags.items() if tag == "night"} - takes_hours
    assert run_by("weekly.yml") == {name for name, tag in tags.items() if tag == "week"}
    assert run_by("release.yml") == {"package"}


def test_only_the_job_that_uploads_can_publish_and_it_runs_no_code_of_ours() -> None:
    release = workflow("release.yml")
    assert release[True] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}  # YAML reads `on` so
    assert release["permissions"] == {}
    build, publish = release["jobs"]["build"], release["jobs"]["publish"]
    assert build["permissions"] == {"contents": "read"}
    assert publish["permissions"] == {"id-token": "write"}
    assert (publish["needs"], publish["environment"]["name"]) == ("build", "pypi")
    download, upload = publish["steps"]
    assert download["uses"].startswith("actions/download-artifact@")
    assert re.fullmatch(r"pypa/gh-action-pypi-publish@[0-9a-f]{40}", upload["uses"])
    assert "run" not in download | upload
    assert "${{" not in "".join(step.get("run", "") for step in build["steps"])


class Release:
    """A checkout in which everything names the release, as CONTRIBUTING.md says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        for name in CHECKED:
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, file)
        self.edit("CHANGELOG.md", "## [Unreleased]", f"## [{VERSION}] - 2026-12-01")
        for name in ("README.md", "docs/ci.md"):
            self.edit(name, "no release on PyPI", "a release on PyPI")
        self.github = GitHub(folder)
        self.log = self.github.fake_pip()
        self.github.program("nox", NOX)

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.folder / name
        file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")

    def run(self, tag: str = f"v{VERSION}") -> Steps:
        """Run both jobs; what GitHub's own actions are given is written down."""
        self.github.environment["GITHUB_REF_NAME"] = tag
        jobs = workflow("release.yml")["jobs"]
        build = Steps(self.github, jobs["build"]["steps"], self.folder, {})
        if not build.status:
            build.used |= Steps(self.github, jobs["publish"]["steps"], self.folder, {}).used
        return build


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return Release(tmp_path)


def test_the_workflow_runs_as_far_as_the_upload(release: Release) -> None:
    done = release.run()
    assert done.status == 0, done.log
    assert release.log.read_text("utf-8") == "<-m><pip><install><nox>"
    assert (release.folder / "nox.log").read_text("utf-8") == "--session package\n"
    given = {action.partition("@")[0]: values for action, values in done.used.items()}
    assert given["actions/upload-artifact"]["path"] == "dist/"
    assert given["actions/upload-artifact"]["name"] == given["actions/download-artifact"]["name"]
    upload = given["pypa/gh-action-pypi-publish"]
    assert upload == {"packages-dir": "dist/", "attestations": "true"}


def test_the_links_of_the_readme_lead_somewhere_on_pypi(release: Release) -> None:
    before = re.findall(r"\]\(([^)]*)\)", (ROOT / "README.md").read_text("utf-8"))
    assert release.run().status == 0
    after = re.findall(r"\]\(([^)]*)\)", (release.folder / "README.md").read_text("utf-8"))
    pages = f"https://github.com/team/shop/tree/v{VERSION}/"
    images = f"https://raw.githubusercontent.com/team/shop/v{VERSION}/"
    for old, new in zip(before, after, strict=True):
        expected = (
            old if ":" in old else f"{images if old.startswith('docs/images/') else pages}{old}"
        )
        assert new == expected
    assert any(new.startswith(images) for new in after)


EDITS = {
    "another tag": ("README.md", "", "", "v9.9.9", "pytest_rankcheck/__init__.py"),
    "unreleased": ("CHANGELOG.md", " - 2026-12-01", " - unreleased", f"v{VERSION}", "CHANGELOG.md"),
    "another citation": (
        "CITATION.cff",
        f"version: {VERSION}",
        "version: 0",
        f"v{VERSION}",
        "CITATION.cff",
    ),
    "a hint from before": (
        "docs/ci.md",
        "a release on PyPI",
        "no release on PyPI",
        f"v{VERSION}",
        "README.md or the manual",
    ),
}


@pytest.mark.parametrize(("file", "old", "new", "tag", "named"), EDITS.values(), ids=EDITS)
def test_a_tag_that_does_not_fit_uploads_nothing(
    release: Release, file: str, old: str, new: str, tag: str, named: str
) -> None:
    if old:
        assert old in (release.folder / file).read_text("utf-8")
        release.edit(file, old, new)
    done = release.run(tag)
    assert done.status == 1
    assert "::error" in done.log
    assert named in done.log
    assert not any("pypi-publish" in action for action in done.used)
    assert not (release.folder / "nox.log").exists()
