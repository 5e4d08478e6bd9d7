"""``init``: a first gate from what a project has; nothing is overwritten."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from project import NEEDS_GIT, git

from pytest_rankcheck import GoldenSet
from pytest_rankcheck.command_line import init_command
from pytest_rankcheck.command_line.init_command import gate_for
from pytest_rankcheck.command_line.main import main

DOCS = Path(__file__).parents[2] / "docs"
SEARCH = "def search(text: str) -> list[str]:\n    return ['good-' + text, 'bad']\n"
OURS = ["pyproject.toml", "tests/test_ranking.py", ".github/workflows/ranking.yml"]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the commands run."""
    shop = tmp_path / "shop"
    shop.mkdir()
    monkeypatch.chdir(shop)
    return shop


def write(path: str, text: str = "") -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def write_golden(path: str = "golden/shop.jsonl", count: int = 8) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    judgments = {f"q{index}": {f"good-t{index}": 2, "bad": 0} for index in range(count)}
    texts = {f"q{index}": f"t{index}" for index in range(count)}
    GoldenSet.from_dict(judgments, texts).save(path)


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def configured() -> dict[str, Any]:
    text = Path("pyproject.toml").read_text("utf-8")
    settings: dict[str, Any] = tomllib.loads(text)["tool"]["pytest"]["ini_options"]
    return settings


def test_reversed_grades_are_pointed_out(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grades = {f"d{n}": 1 if n < 3 else 2 if n < 10 else 3 for n in range(25)}
    Path("golden").mkdir()
    GoldenSet.from_dict({"q": grades}, {"q": "t"}).save("golden/shop.jsonl")
    write("engine.py", SEARCH)
    assert main(["init"]) == 0
    said = "warning: golden set 'shop': no grade is 0, and the lowest positive grade is the rarest"
    assert said in capsys.readouterr().out
    write("pytest.ini", "[pytest]\nrankcheck_lint = reversed-grades=ignore\n")
    assert main(["init"]) == 0
    assert "rarest" not in capsys.readouterr().out


def test_the_gate_is_that_of_the_manual() -> None:
    """The page and the code cannot drift apart."""
    text = (DOCS / "which-gate.md").read_text("utf-8")
    rows = re.findall(r"^\| (fewer than |)([\d,]+)(?: to [\d,]+| or more|) \| `(.+?)`", text, re.M)
    assert len(rows) == 5
    for below, count, gate in rows:
        number = int(count.replace(",", ""))
        assert gate_for(number - 1 if below else number) == gate
    assert [gate_for(999), gate_for(199)] == [rows[3][2], rows[2][2]]


def test_the_job_is_that_of_the_manual() -> None:
    job = Path(init_command.__file__).with_name("first_gate") / "ranking.yml.txt"
    page = (DOCS / "ci.md").read_text("utf-8")
    assert f'```yaml title=".github/workflows/ranking.yml"\n{job.read_text("utf-8")}```' in page


@pytest.mark.slow
def test_the_example_is_blocked_as_its_commands_say(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--example"]) == 0
    commands = [line.strip() for line in capsys.readouterr().out.splitlines() if line[0] == " "]
    assert len(commands) == 3
    done = [
        subprocess.run(
            command.replace("pytest", f"{sys.executable} -m pytest", 1),
            shell=True,
            check=False,
            capture_output=True,
            text=True,
        )
        for command in commands
    ]
    assert [each.returncode for each in done] == [0, 0, 1], [each.stdout for each in done]
    assert "kind=misspelt" in done[2].stdout
    assert "runing shoo" in done[2].stdout


def test_the_example_overwrites_nothing(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("shop.py", SEARCH)
    assert main(["init", "--example"]) == 2
    assert "needs an empty folder" in capsys.readouterr().err
    assert files() == {"shop.py": SEARCH.encode()}


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("has_broken", [False, True])
def test_without_a_golden_set_nothing_is_written(
    has_broken: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    write("shop.py", SEARCH)
    write("README", "four words of text")
    if has_broken:
        write("golden/shop.jsonl", '{"query": "red shoes"}')
    before = files()
    assert main(["init"]) == 2
    printed = capsys.readouterr()
    assert files() == before
    assert (
        'golden/shop.jsonl:1: valid JSON, but not a golden set: no "query_id"' in printed.out
    ) is has_broken
    write("golden/web.jsonl", "\n".join(re.findall(r"^ +(\{.*)", printed.err, re.M)))
    assert len(GoldenSet.load("golden/web.jsonl")) == 1, "the line that is shown is not read"


CONFTEST = "import pytest\n\n@pytest.fixture(scope='session')\ndef ranker():\n    return search\n"
SEVERAL = f"{SEARCH}\ndef rank(text, k: int = 10):\n    return []\n"
OTHERS = "def search(text, index): ...\ndef find(text): ...\n"


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("written", "settings", "says"),
    [
        ({"shop.py": OTHERS + SEARCH}, {"rankcheck_ranker": "shop:search"}, "a guess"),
        ({"src/a/b.py": SEARCH}, {"pythonpath": [".", "src"], "rankcheck_ranker": "a.b:search"}, "a guess"),
        ({"shop.py": "def recommend(query: Query):\n    return []\n"}, {"rankcheck_ranker": "shop:recommend"}, "a guess"),
        ({"shop.py": SEVERAL}, {"pythonpath": ["."]}, "one of shop:search, shop:rank?"),
        ({"shop.py": OTHERS, "tests/helper.py": SEARCH, ".venv/x.py": SEARCH}, {"pythonpath": ["."]}, "not found"),
        ({"shop.py": SEARCH, "tests/conftest.py": CONFTEST}, {}, "the fixture in conftest.py"),
        ({"my-shop.py": SEARCH}, {"pythonpath": ["."]}, "not found"),
    ],
)  # fmt: skip
def test_the_ranker_is_found_or_left_open(
    written: dict[str, str],
    settings: dict[str, object],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_golden()
    for path, text in written.items():
        write(path, text)
    assert main(["init"]) == 0
    printed = capsys.readouterr().out
    assert says in printed
    settings = {"pythonpath": ["."], **settings} if "rankcheck_ranker" in settings else settings
    assert configured() == {"rankcheck_golden": ["golden/shop.jsonl"], **settings}
    is_open = settings == {"pythonpath": ["."]}
    assert ('# rankcheck_ranker = "' in Path("pyproject.toml").read_text("utf-8")) is is_open
    assert ("name your ranker" in printed) is is_open


@pytest.mark.usefixtures("shop")
def test_golden_sets_are_found_by_their_names_or_given(capsys: pytest.CaptureFixture[str]) -> None:
    write("shop.py", OTHERS)
    write_golden("data/web.csv", 1200)
    write_golden("node_modules/golden/x.jsonl")
    assert main(["init"]) == 2
    assert main(["init", "--golden", "data/web.csv", "--golden", "nothere"]) == 2
    write_golden("data/web.jsonl")
    assert main(["init", "--golden", "data/web.csv", "--golden", "data/web.jsonl"]) == 2
    assert "two golden sets share a name" in capsys.readouterr().err
    main(["init", "--golden", "data/web.csv"])
    assert configured()["rankcheck_golden"] == ["data/web.csv"]
    text = Path(OURS[1]).read_text("utf-8")
    assert "gate=Gate.noninferior(margin=0.02))" in text
    assert 'metrics = ["nDCG@10", "R@50"]' in text, "lost documents would not be seen"
    for path in OURS:
        Path(path).unlink()
    write_golden("golden/a b.qrels", 250)
    write_golden("judgments/c.csv", 8)
    main(["init"])
    assert configured()["rankcheck_golden"] == ["golden/a b.qrels", "judgments/c.csv"]
    assert "gate=Gate.significant())" in Path(OURS[1]).read_text("utf-8"), "not of the smallest"


@pytest.mark.usefixtures("shop")
def test_slices_are_offered(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {
            "query_id": f"q{n}",
            "query": f"q{n}",
            "relevance": {"a": 1},
            "locale": "de" if n % 3 else "en",
        }
        for n in range(30)
    ]
    write("golden/shop.jsonl", "".join(f"{json.dumps(each)}\n" for each in lines))
    write("shop.py", SEARCH)
    assert main(["init"]) == 0
    printed = capsys.readouterr().out
    assert 'to gate slices too, set rankcheck_slices = ["locale"]\n' in printed


INI = "rankcheck_golden = 'golden/my shop.jsonl'\npythonpath = .\nrankcheck_ranker = shop:search\n"
TOML = 'rankcheck_golden = ["golden/my shop.jsonl"]\npythonpath = ["."]\nrankcheck_ranker = "shop:search"\n'


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("file", "text", "added"),
    [
        ("pytest.ini", "[pytest]\n", INI),
        ("tox.ini", "[pytest]\naddopts = -ra\n", INI),
        ("setup.cfg", "[tool:pytest]\n", INI),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-ra'\n", TOML),
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = '.'\n", TOML.replace('pythonpath = ["."]\n', "")),
        ("pyproject.toml", "[project]\r\nname = 'shop' # no end of line", None),
        ("pyproject.toml", "[tool.ruff]\n", None),
        ("tox.ini", "[tox]\n", None),
        ("pyproject.toml", "tool = { ruff = {} }\n", TOML),
        ("pyproject.toml", "[tool.pytest]\naddopts = ['-ra']\n", TOML),
    ],
)  # fmt: skip
def test_a_configuration_that_exists_stays_as_it_is(
    file: str, text: str, added: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    write_golden("golden/my shop.jsonl")
    write("shop.py", SEARCH)
    Path(file).write_bytes(text.encode())
    assert main(["init"]) == 0
    if added is None:
        assert Path(file).read_bytes().startswith(text.encode())
        assert (
            Path("pyproject.toml").read_text("utf-8").endswith(f"[tool.pytest.ini_options]\n{TOML}")
        )
        assert configured()
        return
    assert Path(file).read_bytes() == text.encode()
    assert f"add to the settings of pytest in {file}:\n{added}" in capsys.readouterr().out
    write(file, f"{text}{added}")
    before = files()
    assert main(["init"]) == 0
    assert f"exists, left as it is: {file}" in capsys.readouterr().out
    assert files() == before


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(("written", "arguments"), [("x", []), ("shop.py", ["--rank-file"])])
def test_a_project_without_python_gets_a_rank_file(
    written: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write_golden("golden/my shop.jsonl", 200)
    write(written, SEARCH)
    assert main(["init", *arguments]) == 0
    file = Path("tests/test_ranking.rank.toml")
    assert f"name your ranker in {file}" in capsys.readouterr().out
    write(str(file), file.read_text("utf-8").replace("# command", "command"))
    assert tomllib.loads(file.read_text("utf-8")) == {
        "golden": ["../golden/my shop.jsonl"],
        "ranker": {"command": ["../rank"]},
        "test": {
            "no_regression": {
                "not_regressed": ["nDCG@10", "R@50"],
                "gate": "noninferior(margin=0.03)",
            }
        },
    }
    assert not Path("pyproject.toml").exists()
    before = files()
    assert main(["init"]) == 0
    assert "name your ranker" not in capsys.readouterr().out
    assert files() == before


@pytest.mark.usefixtures("shop")
def test_a_second_run_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    write_golden()
    write("tests/test_ranking.py", "def test_mine(): ...\n")
    assert main(["init"]) == 0
    assert "def test_mine" in Path(OURS[1]).read_text("utf-8")
    before = files()
    capsys.readouterr()
    assert main(["init"]) == 0
    printed = capsys.readouterr().out
    assert files() == before
    assert all(f"exists, left as it is: {path}" in printed for path in OURS)
    assert "name your ranker" in printed
    assert "add to" not in printed


@pytest.mark.usefixtures("shop")
def test_elsewhere_in_a_project_it_says_where_to_go(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_golden("part/golden/shop.jsonl")
    write("pytest.ini")
    monkeypatch.chdir("part")
    assert main(["init"]) == 2
    assert "run init in its folder" in capsys.readouterr().err


@NEEDS_GIT
@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(("folder", "file"), [(".", "x"), (".", ".gitlab-ci.yml"), ("part", "x")])
def test_another_ci_or_a_part_of_a_repository_gets_no_job(
    folder: str, file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(Path(), "init", "-q")
    Path(folder).mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    write_golden()
    write(file)
    assert main(["init"]) == 0
    is_written = (folder, file) == (".", "x")
    assert Path(OURS[2]).exists() is is_written
    assert ("add a CI job" in capsys.readouterr().out) is not is_written


PROGRAM = """#!/usr/bin/env python
import json, sys
for line in sys.stdin:
    query = json.loads(line)
    ranking = ["good-" + query["query"], "bad"]
    print(json.dumps({"query_id": query["query_id"], "ranking": ranking}), flush=True)
"""


@NEEDS_GIT
@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranker", "text", "golden"),
    [
        ("shop.py", SEARCH, "golden/shop.jsonl"),
        ("rank", PROGRAM, "golden/shop.jsonl"),
        ("shop.py", SEARCH, "golden/shop.qrels"),
        ("shop.py", SEARCH, "golden/shop.qrels.gz"),
    ],
)
def test_the_printed_commands_work_and_the_gate_fails_once_the_ranker_is_worse(
    ranker: str, text: str, golden: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_golden(golden)
    write(ranker, text)
    write(".gitignore", "__pycache__/\n.pytest_cache/\n")
    assert main(["init"]) == 0
    printed = capsys.readouterr().out
    if ranker == "rank":
        assert "name your ranker in tests/test_ranking.rank.toml, and remove the #" in printed
        table = Path("tests/test_ranking.rank.toml")
        write(str(table), table.read_text("utf-8").replace("# command", "command"))
        Path(ranker).chmod(0o755)
    commands = [line for line in printed.partition("next:")[2].splitlines() if line[:1] == " "]
    assert len(commands) == 4
    for command in commands:
        assert sh(command, shop) == 0, command
    left = set(git(shop, "status", "--porcelain").split())
    assert left == {"??", ".gitignore", ranker}
    assert sh("pytest", shop) == 0
    assert (
        sh(f"git clone -q . ../clone && cp {ranker} ../clone && cd ../clone && pytest", shop) == 0
    )
    main(["init"])
    assert "nothing is left to do" in capsys.readouterr().out
    write(ranker, text.replace("'good-' + text, ", "").replace('"good-" + query["query"], ', ""))
    assert sh("pytest", shop) == 1


@NEEDS_GIT
@pytest.mark.usefixtures("shop")
def test_all_files_of_a_golden_set_are_added(capsys: pytest.CaptureFixture[str]) -> None:
    """Those beside it that it is read with, too."""
    write("golden/rank.test", "2 1:1\n0 1:2\n")
    write("golden/rank.test.query", "2\n")
    write("src/shop.py", SEARCH)
    write("requirements.txt")
    assert main(["init", "--golden", "golden/rank.test"]) == 0
    added = "golden pyproject.toml tests/test_ranking.py .github/workflows/ranking.yml"
    printed = capsys.readouterr().out
    assert f"git add {added} requirements.txt tests/baselines\n" in printed
    assert "install pytest-rankcheck, with [yaml], " in printed
    assert "nDCG@10" in Path(OURS[1]).read_text("utf-8")
    assert "R@" not in Path(OURS[1]).read_text("utf-8"), "no candidate can be lost"


@pytest.mark.usefixtures("shop")
def test_interactions_are_no_candidates() -> None:
    """Though a column such as the time differs within users."""
    write("pytest.ini", "[pytest]\nrankcheck_grades = 1\n")
    write("shop.py", SEARCH)
    write("golden/bought.csv", "query_id,doc_id,time\nann,cap,7\nann,hat,8\n")
    assert main(["init"]) == 0
    assert 'metrics = ["nDCG@10", "R@50"]' in Path(OURS[1]).read_text("utf-8")


def sh(command: str, folder: Path) -> int:
    """Run a command as a user would; return its exit code."""
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("PYTEST_")}
    identity = {
        f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {**identity, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment | own, check=False
    ).returncode
