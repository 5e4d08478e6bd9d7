"""The action for GitHub, the recipes of docs/ci.md, and the hooks for pre-commit."""

import json
import re
import shutil
import sys
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from project import NEEDS_GIT, Project, git
from test_docs import blocks_of
from workflow import BOT, ROOT, GitHub, Steps

from pytest_rankcheck.command_line.main import main

NEEDS_YAML = pytest.mark.needs("yaml")
pytestmark = [
    NEEDS_GIT,
    pytest.mark.skipif(not (shutil.which("bash") and shutil.which("jq")), reason="no bash or jq"),
]

MARKER = "<!-- pytest-rankcheck: rankcheck -->\n"
REFUSED = (403, "Resource not accessible by integration", "POST", "PATCH")


def yaml_of(text: str) -> Any:
    import yaml

    return yaml.safe_load(text)


ACTION = yaml_of((ROOT / "action.yml").read_text("utf-8")) if find_spec("yaml") else {}


@pytest.fixture
def github(tmp_path: Path) -> GitHub:
    folder = tmp_path / "github"
    folder.mkdir()
    return GitHub(folder)


# --- the form of the files


@NEEDS_YAML
def test_no_text_of_an_event_or_an_input_is_part_of_a_script() -> None:
    steps = [*ACTION["runs"]["steps"], *chain.from_iterable(map(steps_of, shown(".github")))]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) > 6
    for script in scripts:
        assert not re.search(r"\$\{\{", script), script
    own = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert all(step["shell"] == "bash" for step in own)
    ids = {step["id"] for step in ACTION["runs"]["steps"] if "id" in step}
    used = re.findall(r"steps\.(\w+)\.outputs", (ROOT / "action.yml").read_text("utf-8"))
    assert set(used) == ids
    assert set(ACTION["outputs"]) == {"verdict", "report"}
    (with_action,) = [step for step in steps if "OWNER" in step.get("uses", "")]
    assert set(with_action["with"]) <= set(ACTION["inputs"])
    described = re.findall(
        r"^\| `([a-z-]+)` \|", (ROOT / "docs" / "ci.md").read_text("utf-8"), re.M
    )
    assert described == ["arguments", "install", "python-version", "working-directory", "name"]
    assert set(described) == set(ACTION["inputs"])


def shown(title: str) -> list[Any]:
    """Return the YAML files of docs/ci.md whose titles start so."""
    blocks = blocks_of(ROOT / "docs" / "ci.md")
    return [yaml_of(block.text) for block in blocks if (block.title or "").startswith(title)]


def steps_of(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


# --- the comment


class Comment:
    """Runs of the script that posts."""

    def __init__(self, github: GitHub) -> None:
        self.github = github
        self.report = github.folder / "report.md"

    def post(self, text: str | None, script: str = "post_comment.sh", **given: str) -> str:
        if text is not None:
            self.report.write_text(text, "utf-8")
        environment = {"NAME": "rankcheck", "REPORT": str(self.report), "NUMBER": "7"}
        path = str(ROOT / "action" / script)
        environment |= {"HEAD_SHA": "c0ffee" * 6 + "c0ff", "FROM_FORK": "false", **given}
        done, self.outputs = self.github.bash([path], self.github.folder, **environment)
        assert done.returncode == 0, done.stdout
        return done.stdout

    @property
    def bodies(self) -> list[str]:
        return [each["body"] for each in self.github["comments"]]


@pytest.fixture
def comment(github: GitHub) -> Comment:
    return Comment(github)


def test_one_comment_is_created_and_updated_in_place(comment: Comment) -> None:
    others = [
        {"id": number, "user": {"login": who}, "body": body}
        for number, (who, body) in enumerate(
            [
                ("mallory", f"{MARKER}not of the bot"),
                (BOT, f"quoted: {MARKER}"),
                (BOT, "<!-- pytest-rankcheck: nightly -->\nof another name"),
                *[("ada", "looks good")] * 150,
            ]
        )
    ]
    comment.github.set(comments=others)
    evil = '## Red `touch evil` $(touch evil) "@file" \'\\ ${{ x }} %s\n'
    comment.post(evil)
    *before, ours = comment.bodies
    assert before == [other["body"] for other in others]
    assert ours.startswith(MARKER)
    assert ours.endswith(evil)
    assert "Commit c0ffeec0ff, [run](https://github.com/team/shop/actions/runs/12)" in ours
    assert comment.outputs == {"posted": "true"}
    comment.post("## Green\n")
    assert comment.bodies[:-1] == before
    assert comment.bodies[-1].endswith("## Green\n")
    assert "Red" not in comment.bodies[-1]
    assert comment.github.summary == f"{evil}## Green\n"
    assert not (comment.github.folder / "evil").exists()


REFUSALS = {
    "fork": (REFUSED, "true", "::notice::no comment: the token of a pull request from a fork"),
    "permissions": (REFUSED, "false", "::warning::no comment: the job needs the permission"),
    "trouble": (
        (502, "Bad\nGateway", "GET"),
        "false",
        "::warning::no comment: gh: Bad Gateway (HTTP",
    ),
}


@pytest.mark.parametrize(("refuses", "fork", "says"), REFUSALS.values(), ids=REFUSALS)
def test_a_report_that_cannot_be_posted_is_in_the_summary(
    comment: Comment, refuses: tuple[object, ...], fork: str, says: str
) -> None:
    comment.github.set(refuses=refuses)
    log = comment.post("## Red\n", FROM_FORK=fork)
    assert log.startswith(says)
    assert log.endswith("The report is in the summary of this run.\n")
    assert comment.github.summary == "## Red\n"
    assert comment.outputs == {"posted": "false"}
    assert comment.bodies == []


def test_other_events_have_no_comment(comment: Comment) -> None:
    longer = comment.github.folder / "summary.md"
    longer.write_text("## The longer one\n", "utf-8")
    assert "not a pull request" in comment.post("## Red\n", NUMBER="", SUMMARY=str(longer))
    assert comment.github.summary == "## The longer one\n"
    assert comment.github["calls"] == []
    assert comment.outputs == {}


@pytest.mark.parametrize(
    ("status", "says"),
    [("", "pytest did not start"), ("4", "pytest ended with exit status 4 and wrote no report")],
)
def test_a_missing_report_is_reported(comment: Comment, status: str, says: str) -> None:
    log = comment.post(None, STATUS=status)
    assert f"::warning::{says}; leave --rankcheck-markdown" in log
    assert f"## ❌ Ranking quality: {says}\n" in comment.bodies[0]
    assert says in comment.report.read_text("utf-8"), "the output `report` names it"


@pytest.mark.parametrize("line", ["nDCG@10 of «größe» fell", "x" * 70_000])
def test_a_long_report_is_cut_between_lines(comment: Comment, line: str) -> None:
    comment.post(f"## Red\n{line}\n" * 3000)
    body = comment.bodies[0]
    assert len(body.encode()) <= 65_536
    assert "The report is too long for a comment and was cut" in body.partition("## Red")[0]
    shown = body.partition("## Red\n")[2].splitlines()
    assert set(shown) <= {"## Red", line}
    comment.post("x" * 63_999 + "\n")
    assert "cut" not in comment.bodies[0]


# --- the report of a fork

FORK = {
    "HEAD_SHA": "c0ffee",
    "HEAD_OWNER": "mallory",
    "HEAD_BRANCH": "@x; touch evil",
    "RUN": "https://example.org/run",
    "NUMBER": "",
}
PULL = {"number": 7, "label": "mallory:@x; touch evil", "head": {"sha": "c0ffee"}}


def test_the_report_of_a_fork_is_posted_as_untrusted_text(comment: Comment) -> None:
    comment.github.set(pulls=[PULL, {**PULL, "number": 8, "head": {"sha": "beef"}}])
    text = "## Green\n<!-- coverage --> @team/all nDCG@10 (@ada) a@<!-- -->b `x`\n" * 2
    comment.post(text, "post_fork_report.sh", **FORK)
    (body,) = comment.bodies
    assert body.startswith(
        f"{MARKER}<sub>Commit c0ffee, [run](https://example.org/run)</sub>\n\n_A run with"
    )
    line = "## Green\n&lt;!-- coverage --> @\u200bteam/all nDCG@10 (@\u200bada) a@<!-- -->b `x`\n"
    assert body.endswith(line * 2)


@NEEDS_YAML
def test_the_workflow_of_the_manual_posts_the_report_of_a_fork(github: GitHub) -> None:
    (workflow,) = shown(".github/workflows/ranking-comment.yml")
    assert workflow["permissions"] == {
        "actions": "read",
        "contents": "read",
        "pull-requests": "write",
    }
    github.set(pulls=[PULL])
    (github.folder / "rankcheck").symlink_to(ROOT)
    (github.folder / "untrusted").mkdir()
    report = github.folder / "untrusted" / "report.md"
    report.write_text("## Green\n", "utf-8")
    run = "github.event.workflow_run."
    context = {
        f"{run}head_sha": FORK["HEAD_SHA"],
        f"{run}head_repository.owner.login": FORK["HEAD_OWNER"],
        f"{run}head_branch": FORK["HEAD_BRANCH"],
        f"{run}html_url": FORK["RUN"],
        f"{run}id": "12",
    }
    steps = Steps(github, steps_of(workflow), github.folder, context)
    assert steps.status == 0, steps.log
    assert github["comments"][0]["body"].endswith("## Green\n")
    checkout, download = steps.used.values()
    assert checkout["path"] == "rankcheck"
    assert (download["name"], download["run-id"]) == ("rankcheck-comment", "12")


UNFIT = {
    "moved on": [{**PULL, "head": {"sha": "beef"}}],
    "of nobody": [],
    "ambiguous": [PULL, {**PULL, "number": 9}],
    "not a number": [{**PULL, "number": "7/../../x"}],
}


@pytest.mark.parametrize("pulls", UNFIT.values(), ids=UNFIT)
def test_the_report_of_a_fork_needs_one_open_pull_request(comment: Comment, pulls: Any) -> None:
    comment.github.set(pulls=pulls)
    log = comment.post("## Green\n", "post_fork_report.sh", **FORK)
    assert "is not that of exactly one open pull request" in log
    assert comment.bodies == []


def test_an_artifact_without_a_report_or_with_a_link_is_not_posted(comment: Comment) -> None:
    comment.github.set(pulls=[PULL])
    assert "no report to post" in comment.post(None, "post_fork_report.sh", **FORK)
    comment.report.symlink_to(comment.github.file)
    assert "no report to post" in comment.post(None, "post_fork_report.sh", **FORK)
    assert comment.github["calls"] == []


# --- the base commit


def test_the_base_commit_is_fetched_and_named(github: GitHub) -> None:
    main, clone = github.folder / "main", github.folder / "clone"
    git(github.folder, "init", "-q", "-b", "main", str(main))
    for step in ("one", "two", "three"):
        git(main, "commit", "-q", "--allow-empty", "-m", step)
    one, head = git(main, "rev-parse", "HEAD~2", "HEAD").split()
    git(main, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(github.folder, "clone", "-q", "--depth=1", main.as_uri(), str(clone))
    script = [str(ROOT / "action" / "fetch_base.sh")]

    def fetched(base: str, **given: str) -> tuple[int, str, dict[str, str]]:
        environment = {"GITHUB_SHA": head, "GITHUB_REF": "refs/heads/main", "BASE": base, **given}
        done, outputs = github.bash(script, clone, **environment)
        return done.returncode, done.stdout, outputs

    assert fetched("") == (0, "", {})
    missing = fetched("0" * 40)
    assert missing[0] == 1
    assert "::error::the base commit 000" in missing[1]
    assert fetched(one)[2] == {"reference": one}, "as in a merge queue"
    # A branch that is checked out, not the merge commit: its first parent is not the base.
    pull = {"GITHUB_REF": "refs/pull/7/merge", "GITHUB_BASE_REF": "rel/2", "GITHUB_SHA": "another"}
    assert fetched(one, **pull)[2] == {"reference": "origin/rel/2"}
    assert git(clone, "rev-parse", "origin/rel/2").strip() == one
    assert git(clone, "rev-list", "--count", "HEAD") == "1\n", "history is not fetched"


# --- the whole action, on a shallow clone of the merge commit of a pull request


class PullRequest:
    """A project whose pull request changes the ranks of some documents."""

    def __init__(self, project: Project, github: GitHub) -> None:
        self.github = github
        project.test()
        project.update()
        self._commit(project, "init", "-q", "-b", "main")
        self.old = git(project.path, "rev-parse", "HEAD").strip()
        project.write("notes.md", "main goes on")
        self._commit(project)
        self.base = git(project.path, "rev-parse", "HEAD").strip()
        self.project = project

    @staticmethod
    def _commit(project: Project, *first: str) -> None:
        if first:
            git(project.path, *first)
        git(project.path, "add", "-A")
        git(project.path, "commit", "-q", "-m", "a step", "--allow-empty")

    def check_out(self, ranks: dict[int, int | None]) -> Path:
        """Return a clone as actions/checkout makes it of a pull request; main has gone on since."""
        path = self.project.path
        git(path, "checkout", "-q", "-b", "feature", self.old)
        self.project.rank(ranks)
        self._commit(self.project)
        git(path, "checkout", "-q", "--detach", self.base)
        git(path, "merge", "-q", "--no-ff", "-m", "Merge", "feature")
        git(path, "update-ref", "refs/pull/7/merge", "HEAD")
        git(path, "checkout", "-q", "main")
        self.project.baseline_file().unlink()
        self._commit(self.project)
        git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
        clone = self.github.folder / "clone"
        git(path, "init", "-q", str(clone))
        git(clone, "remote", "add", "origin", path.as_uri())
        git(clone, "fetch", "-q", "--depth=1", "origin", "refs/pull/7/merge")
        git(clone, "checkout", "-q", "FETCH_HEAD")
        self.github.environment["GITHUB_SHA"] = git(clone, "rev-parse", "HEAD").strip()
        self.github.environment["GITHUB_BASE_REF"] = "main"
        return clone

    def run(self, clone: Path, event: dict[str, str] | None = None, **inputs: str) -> Steps:
        """Run the action."""
        defaults = {name: each["default"] for name, each in ACTION["inputs"].items()}
        pull = "github.event.pull_request."
        if event is None:
            head = {"head.sha": "c0ffee", "head.repo.full_name": "team/shop"}
            event = {f"{pull}{name}": value for name, value in head.items()}
            event |= {f"{pull}number": "7", f"{pull}base.sha": self.old}
        given = {f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()}
        context = {**given, **event, "github.repository": "team/shop", "github.token": "secret"}
        return Steps(self.github, ACTION["runs"]["steps"], clone, context)


def outputs_of(steps: Steps) -> tuple[str, Path]:
    verdict, report = (
        steps.text(ACTION["outputs"][name]["value"]) for name in ("verdict", "report")
    )
    return verdict, Path(report)


@pytest.fixture
def pull_request(pytester: pytest.Pytester, github: GitHub) -> PullRequest:
    github.fake_pip()
    return PullRequest(Project(pytester), github)


@NEEDS_YAML
@pytest.mark.slow
def test_the_action_gates_against_the_base_and_comments(
    pull_request: PullRequest, tmp_path: Path
) -> None:
    github = pull_request.github
    clone = pull_request.check_out({1: 3, 2: None})
    red = pull_request.run(clone)
    assert (github.folder / "pip.log").read_text("utf-8") == f"<-m><pip><install><{ROOT}>"
    verdict, report = outputs_of(red)
    assert (verdict, red.status) == ("failed", 1), red.log
    assert git(clone, "rev-parse", "origin/main").strip() == pull_request.base, "not the event's"
    (body,) = [each["body"] for each in github["comments"]]
    assert "## ❌ Ranking quality: 1 of 1 gate failed" in body
    assert "pytest tests/test_ranking.py::test_mrr --rankcheck-baseline-ref=origin/main" in body
    assert body.endswith(report.read_text("utf-8"))
    assert github.summary.count("## ❌ Ranking quality") == 1
    assert list(red.used) == ["actions/setup-python@v6"]
    (clone / "ranks.json").write_text("{}", "utf-8")
    evil = """ -k "mrr and not other" $(touch${IFS}evil) ; touch evil `touch evil`"""
    assert outputs_of(pull_request.run(clone, arguments=evil))[0] == "error"
    green = pull_request.run(clone, arguments='-k "mrr and not other"', install="'a b' -r c")
    assert (outputs_of(green)[0], green.status) == ("passed", 0), green.log
    (body,) = [each["body"] for each in github["comments"]]
    assert "## ✅ Ranking quality: 1 gate passed" in body
    assert (github.folder / "pip.log").read_text("utf-8").endswith("<install><a b><-r><c>")
    assert not [*clone.rglob("evil"), *tmp_path.rglob("evil")]


@NEEDS_YAML
@pytest.mark.slow
def test_the_action_keeps_the_report_of_a_fork(pull_request: PullRequest) -> None:
    github = pull_request.github
    github.set(refuses=REFUSED)
    head = {"number": "7", "base.sha": pull_request.old, "head.repo.full_name": "mallory/shop"}
    event = {f"github.event.pull_request.{name}": value for name, value in head.items()}
    steps = pull_request.run(pull_request.check_out({}), event, **{"python-version": ""})
    verdict, report = outputs_of(steps)
    assert (verdict, steps.status) == ("passed", 0)
    assert "the token of a pull request from a fork may only read" in steps.log
    assert github.summary.startswith("## ✅ Ranking quality: 1 gate passed")
    assert steps.used == {
        "actions/upload-artifact@v4": {
            "name": "rankcheck-comment",
            "path": str(report),
            "overwrite": "true",
        }
    }


@NEEDS_YAML
@pytest.mark.slow
def test_the_action_sets_its_outputs_whatever_fails(pull_request: PullRequest) -> None:
    github = pull_request.github
    clone = pull_request.check_out({})
    unbalanced = pull_request.run(clone, arguments='-k "mrr')
    assert outputs_of(unbalanced)[0] == "error"
    assert 'arguments: No closing quotation: -k "mrr' in unbalanced.log
    assert unbalanced.status == 1
    github.fake_pip(status=1)
    failed = pull_request.run(clone)
    verdict, report = outputs_of(failed)
    assert (verdict, failed.status) == ("error", 1)
    assert "pytest did not start" in report.read_text("utf-8")
    assert "pytest did not start" in github["comments"][0]["body"]
    named = pull_request.run(clone, name="../x")
    assert (outputs_of(named)[0], named.status) == ("error", 1)
    assert "::error::name: use letters" in named.log


# --- the recipe for GitLab

FAKE_CURL = """
import json, os, sys
from pathlib import Path

words = sys.argv[1:]
given = dict(zip(words, words[1:]))
assert given["--header"] == "PRIVATE-TOKEN: secret"
place, _, query = words[-1].partition("?")
path = Path("notes.state")
notes = json.loads(path.read_text()) if path.exists() else []
folder = "https://gitlab/projects/3/merge_requests/7/notes"
assert place.startswith(folder), place
if "--form" in given:
    name, _, file = given["--form"].partition("=<")
    body = {name: Path(file).read_text("utf-8")}
    if given.get("--request") == "PUT":
        (note,) = [each for each in notes if place == f"{folder}/{each['id']}"]
        note.update(body)
    else:
        notes.append({"id": 100 + len(notes), **body})
    path.write_text(json.dumps(notes))
Path(given["--output"]).write_text(json.dumps(notes))
"""


@NEEDS_YAML
def test_the_recipe_for_gitlab_keeps_one_note(github: GitHub) -> None:
    github.program("curl", f"#!{sys.executable}{FAKE_CURL}")
    (script,) = shown(".gitlab-ci.yml")[0]["ranking"]["after_script"]
    ci = {"CI_API_V4_URL": "https://gitlab", "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
    state, report = (github.folder / name for name in ("notes.state", "rankcheck/report.md"))
    report.parent.mkdir()

    def run(text: str, token: str = "secret") -> list[str]:
        report.write_text(text, "utf-8")
        done, _ = github.bash(["-c", script], github.folder, RANKCHECK_TOKEN=token, **ci)
        assert done.returncode == 0, done.stdout
        return [each["body"] for each in json.loads(state.read_text("utf-8"))]

    state.write_text(json.dumps([{"id": 5, "body": "looks good"}]), "utf-8")
    assert run("## Red\n", token="") == ["looks good"]
    assert run("") == ["looks good"]
    for text in ("## Red $(touch evil)\n", "## Green «ü»\n"):
        assert run(text) == ["looks good", f"<!-- pytest-rankcheck -->\n{text}"]


# --- the hooks for pre-commit

HOOKS = (
    {hook["id"]: hook for hook in yaml_of((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    if find_spec("yaml")
    else {}
)
CHOSEN = {
    "golden/web.jsonl": "rankcheck-lint",
    "shop/tests/golden/web.qrels.gz": "rankcheck-lint",
    "tests/test_web.rank.toml": "rankcheck-lint",
    "tests/baselines/test_ranking/test_mrr--web.json": "rankcheck-records",
    "golden/web.queries.tsv": None,
    "golden/beir/corpus.jsonl": None,
    "golden/README.md": None,
    "notgolden/web.jsonl": None,
    "tests/web.rank.toml": None,
    "baselines/other.json": None,
}


@NEEDS_YAML
def test_the_hooks_choose_their_files() -> None:
    for path, expected in CHOSEN.items():
        chosen = {
            name
            for name, hook in HOOKS.items()
            if re.search(hook["files"], path) and not re.search(hook.get("exclude", "^$"), path)
        }
        assert chosen == ({expected} if expected else set()), path
    ((repository,),) = [file["repos"] for file in shown(".pre-commit-config.yaml")]
    assert {hook["id"] for hook in repository["hooks"]} == set(HOOKS)


@NEEDS_YAML
def test_the_hooks_refuse_what_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    judged = {"query": "red shoes", "relevance": {"a": 1, "b": 0}}
    golden = [json.dumps({"query_id": f"q{n}", **judged}) + "\n" for n in range(40)]
    record = sorted((ROOT / "examples").rglob("baselines/*/*.json"))[0]
    for name, place, text in (
        ("rankcheck-lint", "golden/web.jsonl", "".join(golden)),
        ("rankcheck-records", "baselines/test_x/test_x--web.json", record.read_text("utf-8")),
    ):
        python, *module, command = HOOKS[name]["entry"].split()
        assert (python, module) == ("python", ["-m", "pytest_rankcheck"])
        file = tmp_path / place
        file.parent.mkdir(parents=True)
        file.write_text(text, "utf-8")
        assert main([command, place]) == 0
        file.write_text(f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> branch\n", "utf-8")
        assert main([command, place]) != 0
