"""A ranking that was interrupted continues, and answers never outlive what they depend on."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import ConfigurationError, GoldenSet, RankerError, RunError, rank, rankers
from pytest_rankcheck.rankers.adapter_protocol import Adapter, OnAnswer, QueryAnswer, RankingTask
from pytest_rankcheck.rankers.execution import kept_answers, resume_key, undeclared_inputs
from tests import worker_rankers as workers
from tests.project import NEEDS_GIT
from tests.worker_rankers import GOLDEN, number

pytestmark = NEEDS_GIT

ENGINE = """
def search(text):
    return [f"d{text.split()[-1]}", "other"]
"""


class Stopped(BaseException):
    """What ends a ranking in the middle, as a time limit does."""


@pytest.fixture(autouse=True)
def quick_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: no test switches the machine off."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit, which is the current folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "engine.py").write_text(ENGINE)
    (folder / ".gitignore").write_text("models/\n")
    git("init", "-q")
    commit()
    return folder


def git(*arguments: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "-q", "--allow-empty", "-m", "state")


class Counting:
    """A ranker that counts its calls, and stops after some of them."""

    def __init__(self, most: int = 10**9) -> None:
        self.asked: list[int] = []
        self.most = most
        self.failing: int | None = None

    def __call__(self, text: str) -> list[str]:
        if number(text) == self.failing:
            raise ConnectionError("gone")
        if len(self.asked) >= self.most:
            raise Stopped
        self.asked.append(number(text))
        return workers.search(text)


def interrupted(folder: Path, most: int = 25, **options: Any) -> None:
    """Rank until the ranker stops."""
    options = {"resume_key": "k", "chunk": 10} | options
    with pytest.raises(Stopped):
        rank(Counting(most), GOLDEN, resume=folder, **options)


def test_a_ranking_continues_where_it_was_stopped(tmp_path: Path) -> None:
    interrupted(tmp_path / "parts")
    assert len(list((tmp_path / "parts").glob("part-*.json"))) == 3
    ranker = Counting()
    done: list[int] = []
    run = rank(
        ranker,
        GOLDEN,
        resume=tmp_path / "parts",
        resume_key="k",
        progress=lambda now, of: done.append(now),
    )
    assert ranker.asked == list(range(25, 60))
    here = rank(workers.search, GOLDEN)
    assert run.rankings() == here.rankings()
    assert list(run) == list(here)
    assert done == list(range(1, 61))
    assert set(run.seconds) == set(here.seconds)
    assert not (tmp_path / "parts").exists()
    (note,) = run.notes
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    assert note.startswith(f"25 of 60 queries were ranked before ({today}")
    assert note.endswith("; 35 were ranked now")
    assert run.top(3).notes == (note,), "the top of the rankings is as old as they are"


def test_a_complete_run_keeps_nothing(tmp_path: Path) -> None:
    run = rank(workers.search, GOLDEN, resume=tmp_path / "parts", resume_key="k")
    assert not (tmp_path / "parts").exists()
    assert run.notes == ()


@pytest.mark.parametrize("executor", [None, "processes:2"])
def test_a_process_that_is_killed_loses_at_most_its_chunk(
    repository: Path, executor: str | None
) -> None:
    """Four chunks of five are complete when the process exits in the middle of the fifth."""
    script = textwrap.dedent(
        f"""
        import os
        from pytest_rankcheck import rank
        from tests.worker_rankers import GOLDEN

        def die(done, of):
            if done == 23:
                os._exit(9)

        if __name__ == "__main__":
            rank(
                "engine:search", GOLDEN, chunk=5, resume="parts", executor={executor!r},
                progress=die,
            )
        """
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, env=with_path(repository))
    assert done.returncode == 9
    parts = [json.loads(part.read_text()) for part in Path("parts").glob("part-*.json")]
    kept = {query_id for part in parts for query_id in part["answers"]}
    assert len(kept) == 20
    asked: list[str] = []
    run = rank(noting(asked), GOLDEN, resume="parts", resume_key=None)
    assert kept.isdisjoint(asked)
    assert len(asked) == 40
    assert len(run) == 60


def with_path(folder: Path) -> dict[str, str]:
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def noting(asked: list[str]) -> Any:
    """Return a ranker that is taken for ``engine:search``."""

    def search(text: str) -> list[str]:
        asked.append(f"q{number(text)}")
        return [f"d{number(text)}", "other"]

    module = type(sys)("engine")
    search.__module__, search.__qualname__ = "engine", "search"
    module.search = search  # type: ignore[attr-defined]
    sys.modules["engine"] = module
    return search


@pytest.fixture(autouse=True)
def forget_engine() -> Any:
    yield
    sys.modules.pop("engine", None)


def test_queries_that_failed_are_asked_again(tmp_path: Path) -> None:
    ranker = Counting()
    ranker.failing = 7
    with pytest.raises(RankerError, match="1 of 60 queries"):
        rank(ranker, GOLDEN, resume=tmp_path / "parts", resume_key="k")
    ranker.asked.clear()
    ranker.failing = None
    run = rank(ranker, GOLDEN, resume=tmp_path / "parts", resume_key="k")
    assert ranker.asked == [7]
    assert len(run) == 60


@pytest.mark.parametrize("ranker", [workers.tied, workers.repeated, workers.by_locale])
@pytest.mark.parametrize("options", [{"ties": "input"}, {"duplicates": "keep_places", "depth": 2}])
def test_kept_answers_give_the_same_rankings_as_fresh_ones(
    tmp_path: Path, ranker: Callable[..., object], options: dict[str, Any]
) -> None:
    options = {"duplicates": "close_gaps", **options}

    def stop(done: int, of: int) -> None:
        if done == 31:
            raise Stopped

    where: dict[str, Any] = {"resume": tmp_path / "parts", "resume_key": "k", "chunk": 7}
    with pytest.raises(Stopped):
        rank(ranker, GOLDEN, progress=stop, **where, **options)
    run = rank(ranker, GOLDEN, **where, **options)
    assert run.notes
    assert run.rankings() == rank(ranker, GOLDEN, **options).rankings()


def test_kept_answers_have_the_times_of_the_first_ranking(tmp_path: Path) -> None:
    def stop(done: int, of: int) -> None:
        if done == 31:
            raise Stopped

    where: dict[str, Any] = {"resume": tmp_path / "parts", "resume_key": "k", "chunk": 7}
    with pytest.raises(Stopped):
        rank(workers.Timed(), GOLDEN, progress=stop, **where)
    run = rank(workers.Timed(), GOLDEN, **where)
    assert run.notes[0].startswith("31 of 60 queries were ranked before")
    assert run.seconds == {f"q{n}": 3600.0 * n for n in range(60)}


def test_a_generator_is_kept_as_it_was_read(tmp_path: Path) -> None:
    def lazy(text: str) -> Any:
        return map(str.upper, workers.search(text))

    run = rank(lazy, GOLDEN, resume=tmp_path / "parts", resume_key="k")
    assert run["q1"] == ("D2", "D1", "OTHER")


def test_an_executor_continues_a_run_that_began_without_one(tmp_path: Path) -> None:
    interrupted(tmp_path / "parts")
    asked = Counting()
    with ThreadPoolExecutor(2) as threads:
        run = rank(
            asked, GOLDEN, resume=tmp_path / "parts", resume_key="k", executor=threads, chunk=4
        )
    assert sorted(asked.asked) == list(range(25, 60))
    assert run.rankings() == rank(workers.search, GOLDEN).rankings()


# --- the key -----------------------------------------------------------------------------------


def started(**options: Any) -> None:
    """Rank some queries of ``engine:search`` in the repository, and stop."""

    def stop(done: int, of: int) -> None:
        if done == 10:
            raise Stopped

    with pytest.raises(Stopped):
        rank(noting([]), GOLDEN, chunk=5, resume="parts", progress=stop, **options)
    assert len(list(Path("parts").glob("part-*.json"))) == 2


def refused(message: str, golden: GoldenSet = GOLDEN, **options: Any) -> None:
    """Check that the rest is not ranked, that nothing is asked, and that nothing is lost."""
    before = {path: path.read_text() for path in Path("parts").iterdir()}
    asked: list[str] = []
    with pytest.raises((ConfigurationError, RunError), match=message):
        rank(noting(asked), golden, resume="parts", **options)
    assert not asked
    assert {path: path.read_text() for path in Path("parts").iterdir()} == before


def test_the_rest_is_ranked_if_nothing_has_changed(repository: Path) -> None:
    started()
    asked: list[str] = []
    rank(noting(asked), GOLDEN, resume="parts", chunk=3)  # which is no part of the key
    assert len(asked) == 50


@pytest.mark.parametrize(
    "golden",
    [
        GOLDEN.subset([f"q{n}" for n in range(59)]),
        GOLDEN.reworded({query.id: f"{query.text}!" for query in GOLDEN}),
        GoldenSet.from_dict(
            {query.id: dict(GOLDEN.grades(query.id)) for query in GOLDEN},
            {query.id: str(query.text) for query in GOLDEN},
            attributes={"q1": {"locale": "de"}},
        ),
    ],
    ids=["fewer queries", "other texts", "other attributes"],
)
def test_another_golden_set_is_refused(repository: Path, golden: GoldenSet) -> None:
    started()
    refused("the golden set .* was", golden)


def test_another_depth_is_refused(repository: Path) -> None:
    started()
    refused("the depth was '100' and is '20'", depth=20)


def test_another_ranker_is_refused(repository: Path) -> None:
    started()
    with pytest.raises(ConfigurationError, match=r"the ranker was 'engine:search' and is 'tests"):
        rank(workers.search, GOLDEN, resume="parts")


def test_another_commit_is_refused(repository: Path) -> None:
    started()
    commit()
    refused("the commit was")


@pytest.mark.parametrize(
    ("name", "text"), [("engine.py", "# changed"), ("new.py", "# new")], ids=["changed", "new"]
)
def test_a_changed_file_is_refused_and_named(repository: Path, name: str, text: str) -> None:
    started()
    Path(name).write_text(text)
    refused(f"changed files .*: '{name}' has been changed or added since")


def test_a_file_that_is_changed_again_or_back_is_refused(repository: Path) -> None:
    Path("engine.py").write_text("# one")
    started()
    Path("engine.py").write_text("# two")
    refused("'engine.py' has been changed again")
    Path("engine.py").write_text(ENGINE)
    refused("'engine.py' no longer differs from the commit, or was deleted")


def test_ignored_files_and_the_folder_itself_do_not_count(repository: Path) -> None:
    started()
    Path("models").mkdir()
    Path("models/a.bin").write_text("a")
    asked: list[str] = []
    rank(noting(asked), GOLDEN, resume="parts")
    assert len(asked) == 50


def test_another_version_of_a_package_is_refused(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started()
    monkeypatch.setattr(resume_key, "_packages", lambda: {"numpy": "0.1"})
    refused(r"installed packages: .*->.* and \d+ more")


def test_another_version_of_ours_is_refused(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started()
    monkeypatch.setattr(resume_key, "package_version", lambda: "0.0.1")
    refused(r"pytest-rankcheck was '.*' and is '0\.0\.1'")


def test_another_format_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started()
    monkeypatch.setattr(kept_answers, "_FORMAT", 2)
    refused("written by another version")


def test_another_resume_key_is_refused(repository: Path) -> None:
    started(resume_key="index 1")
    refused("resume_key was 'index 1' and is 'index 2'", resume_key="index 2")
    refused("resume_key was 'index 1' and is not given")


def test_another_world_is_refused() -> None:
    def key(world: dict[str, str]) -> dict[str, Any]:
        return {"world": world}

    (text,) = resume_key.differences(key({"index": "a", "x": "1"}), key({"index": "b", "x": "1"}))
    assert text == "rankcheck_world: 'index' a -> b"


def aged(hours: float) -> None:
    """Make the last part older."""
    part = max(Path("parts").glob("part-*.json"))
    content = json.loads(part.read_text())
    when = datetime.now(UTC) - timedelta(hours=hours)
    write_signed(part, {**content, "ranked": when.isoformat(timespec="seconds")})


def write_signed(part: Path, content: dict[str, Any]) -> None:
    """Write a part with the checksum of its content."""
    content.pop("checksum", None)
    part.write_text(json.dumps({**content, "checksum": kept_answers._checksum(content)}))


@pytest.mark.parametrize("hours", [25, -3], ids=["too old", "in the future"])
def test_old_answers_are_refused_without_a_resume_key(repository: Path, hours: float) -> None:
    started()
    aged(hours)
    refused("more than a day ago")


def test_old_answers_count_with_a_resume_key(repository: Path) -> None:
    started(resume_key="index 1")
    aged(24 * 30)
    run = rank(noting([]), GOLDEN, resume="parts", resume_key="index 1")
    assert "10 of 60 queries were ranked before" in run.notes[0]


def test_answers_of_a_day_count(repository: Path) -> None:
    started()
    aged(23)
    asked: list[str] = []
    rank(noting(asked), GOLDEN, resume="parts")
    assert len(asked) == 50


# --- when a resume_key is needed ---------------------------------------------------------------


def test_outside_git_a_resume_key_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(ConfigurationError, match=r"not in a git repository.*give resume_key="):
        rank(workers.search, GOLDEN, resume="parts")
    assert not Path("parts").exists()
    rank(workers.search, GOLDEN, resume="parts", resume_key="k")


def test_before_the_first_commit_a_resume_key_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    with pytest.raises(ConfigurationError, match=r"git repository with a commit"):
        rank(workers.search, GOLDEN, resume="parts")


@pytest.mark.parametrize(
    "ranker",
    [Counting(), lambda text: [text], rankers.batch(workers.many)],
    ids=["callable", "lambda", "adapter"],
)
def test_an_object_needs_a_resume_key(repository: Path, ranker: object) -> None:
    with pytest.raises(ConfigurationError, match=r"is an object, whose state is in no commit"):
        rank(ranker, GOLDEN, resume="parts")


def test_a_service_needs_a_resume_key(repository: Path) -> None:
    class Remote(Adapter):
        name = "remote"
        calls_service = True

        def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
            for query in task.golden:
                on_answer(QueryAnswer(query, ["a"]))

    workers.remote = Remote()  # type: ignore[attr-defined]
    where: dict[str, Any] = {"golden": GOLDEN, "resume": "parts"}
    for ranker in ("tests.worker_rankers:remote", "tests.worker_rankers:search_async"):
        with pytest.raises(ConfigurationError, match="calls a service"):
            rank(ranker, **where)
        assert not Path("parts").exists()
        rank(ranker, **where, resume_key="index 1")


def test_rankers_http_calls_a_service() -> None:
    assert rankers.http("http://localhost/{query}", ids="[]").calls_service


@pytest.mark.parametrize("executor", [None, "processes:1"])
def test_a_ranker_that_connects_to_a_service_needs_a_resume_key(
    repository: Path, executor: str | None
) -> None:
    with pytest.raises(ConfigurationError, match=r"calls a service \(127\.0\.0\.1:9\)"):
        rank("tests.worker_rankers:connects", GOLDEN, resume="parts", executor=executor)
    assert not list(Path("parts").glob("part-*.json"))


@pytest.mark.parametrize("executor", [None, "processes:1"])
def test_a_ranker_that_reads_an_undeclared_file_needs_a_resume_key(
    repository: Path, executor: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("models").mkdir()
    Path("models/weights.txt").write_text("1")  # which git ignores
    monkeypatch.setenv(workers.FOLDER, str(repository / "models"))
    where: dict[str, Any] = {"golden": GOLDEN, "resume": "parts", "executor": executor}
    with pytest.raises(ConfigurationError, match=r"reads .*weights\.txt, which git does not"):
        rank("tests.worker_rankers:reads", **where)
    assert not list(Path("parts").glob("part-*.json"))
    rank("tests.worker_rankers:reads", **where, resume_key="weights 1")


MODELLED = """
from pathlib import Path
{at_import}

class Engine:
    def __init__(self):
        self.ids = Path("models/ids.txt").read_text().split()

    def __call__(self, text):
        return self.ids

def search(text):
    return IDS

def simple(text):
    return ["d1"]
"""


@pytest.mark.parametrize(
    ("name", "at_import"),
    [
        ("modelled:Engine()", ""),
        ("modelled:search", "IDS = Path('models/ids.txt').read_text().split()"),
    ],
    ids=["made", "imported"],
)
def test_reading_before_the_first_query_also_needs_a_resume_key(
    repository: Path, name: str, at_import: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("modelled.py").write_text(MODELLED.format(at_import=at_import))
    Path("models").mkdir()
    Path("models/ids.txt").write_text("d1 d2")  # which git ignores
    commit()
    monkeypatch.syspath_prepend(str(repository))
    monkeypatch.delitem(sys.modules, "modelled", raising=False)
    for _ in range(2):  # the module is imported in the first one only
        with pytest.raises(ConfigurationError, match=r"reads .*ids\.txt, which git does not"):
            rank(name, GOLDEN, resume="parts")
        assert not list(Path("parts").glob("part-*.json"))
    if not at_import:  # what the engine read does not concern its neighbour
        rank("modelled:simple", GOLDEN, resume="parts")
    rank(name, GOLDEN, resume="parts", resume_key="ids 1")
    git("add", "-f", "models/ids.txt")
    assert rank(name, GOLDEN, resume="parts")["q1"] == ("d1", "d2")


def test_collecting_the_inputs_is_not_watched_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, other = tmp_path / "model.txt", tmp_path / "other.txt"
    model.write_text("1")
    other.write_text("2")

    def opens_a_file() -> tuple[str, ...]:
        other.read_text()
        return ("/nowhere/",)

    monkeypatch.setattr(undeclared_inputs, "installed_folders", opens_a_file)
    with undeclared_inputs.watched_inputs(active=True) as inputs:
        model.read_text()
        assert inputs.taken().files == (str(model),)
        assert inputs.taken().files == ()


def test_a_file_that_git_tracks_may_be_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("weights.txt").write_text("1")
    commit()
    monkeypatch.setenv(workers.FOLDER, str(repository))
    rank("tests.worker_rankers:reads", GOLDEN, resume="parts")


@pytest.mark.parametrize("executor", [None, "processes:1"])
def test_an_undeclared_file_is_found_among_many_that_git_tracks(
    repository: Path, executor: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository / "models"  # which git ignores, but for what is added by force
    folder.mkdir()
    for place in range(150):
        (folder / f"{place:03}.txt").write_text("1")
    git("add", "-f", "models")
    commit()
    monkeypatch.setenv(workers.FOLDER, str(folder))
    where: dict[str, Any] = {"golden": GOLDEN, "resume": "parts", "executor": executor}
    rank("tests.worker_rankers:reads_all", **where)
    (folder / "weights.txt").write_text("1")
    with pytest.raises(ConfigurationError, match=r"reads .*weights\.txt, which git does not"):
        rank("tests.worker_rankers:reads_all", **where)


def test_a_key_without_a_folder_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="resume_key= has no effect"):
        rank(workers.search, GOLDEN, resume_key="k")


# --- the folder --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["part-000002.json", "key.json"])
@pytest.mark.parametrize("text", ["", '{"key": "', "[]", "{}", "[" * 100_000])
def test_a_file_that_is_cut_off_is_an_error(repository: Path, name: str, text: str) -> None:
    started()
    (Path("parts") / name).write_text(text)
    refused(rf"{name}.*(cut off or edited|another version)")


@pytest.mark.parametrize(
    "answer",
    [
        ["list", "abc", None, 1],
        ["list", [1], None, 1],
        ["scores", ["a"], None, 1],
        ["list", ["a"], [1.0, 2.0], 1],
        ["list", ["a"], ["1"], 1],
        ["other", ["a"], None, 1],
        ["list", ["a"], None, "x"],
        ["list"],
        None,
    ],
)
def test_an_edited_answer_is_an_error(repository: Path, answer: object) -> None:
    started()
    part = Path("parts/part-000001.json")
    content = json.loads(part.read_text())
    content["answers"]["q0"] = answer
    write_signed(part, content)
    refused("part-000001.json was cut off or edited after it was written")


def test_an_edited_part_is_an_error_even_if_its_form_is_right(repository: Path) -> None:
    started()
    part = Path("parts/part-000001.json")
    part.write_text(part.read_text().replace('"d1"', '"d9"'))
    refused("part-000001.json was cut off or edited after it was written")


def test_parts_with_different_answers_to_a_query_are_an_error(repository: Path) -> None:
    started()
    content = json.loads(Path("parts/part-000001.json").read_text())
    other = Path("parts/part-000009.json")
    write_signed(other, content)
    rank(noting([]), GOLDEN, resume="parts")  # a copy contradicts nothing
    started()
    content["answers"]["q1"][1] = ["d9", "other"]
    write_signed(other, content)
    refused(r"part-000001\.json and part-000009\.json have different answers to query 'q1'")


def test_of_two_answers_of_an_adapter_only_the_first_is_kept(tmp_path: Path) -> None:
    class Twice(Adapter):
        name = "twice"

        def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
            for query in task.golden:
                on_answer(QueryAnswer(query, ["a", "b"]))
                on_answer(QueryAnswer(query, ["b", "a"]))

    def stop(done: int, of: int) -> None:
        if done == 3:
            raise Stopped

    where: dict[str, Any] = {"resume": tmp_path / "parts", "resume_key": "k", "chunk": 1}
    with pytest.raises(Stopped):
        rank(Twice(), GOLDEN, progress=stop, **where)
    assert rank(Twice(), GOLDEN, **where)["q0"] == ("a", "b")


def test_a_part_of_another_ranking_is_an_error(repository: Path) -> None:
    started()
    part = Path("parts/part-000001.json")
    write_signed(part, {**json.loads(part.read_text()), "key": "other"})
    refused("belong to different rankings")


def test_parts_without_a_key_are_an_error(repository: Path) -> None:
    started()
    Path("parts/key.json").unlink()
    refused(r"has parts, but no key\.json")


def test_a_folder_with_other_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"has other files, such as 'notes\.txt'"):
        rank(workers.search, GOLDEN, resume=tmp_path, resume_key="k")


@pytest.mark.parametrize("place", ["notes.txt", "notes.txt/parts"])
def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"notes\.txt' is not a folder"):
        rank(workers.search, GOLDEN, resume=tmp_path / place, resume_key="k")


@pytest.mark.parametrize("nothing", ["", " "])
def test_an_empty_name_is_not_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="resume= is empty; give the name of a folder"):
        rank(workers.search, GOLDEN, resume=nothing, resume_key="k")


def test_two_rankings_cannot_share_a_folder(tmp_path: Path) -> None:
    def again(text: str) -> list[str]:
        rank(workers.search, GOLDEN, resume=tmp_path / "parts", resume_key="k")
        return [text]

    with pytest.raises(ConfigurationError, match="another process is ranking into this folder"):
        rank(again, GOLDEN.subset(["q1"]), resume=tmp_path / "parts", resume_key="k")


def test_the_remains_of_a_killed_writer_are_not_a_part(tmp_path: Path) -> None:
    interrupted(tmp_path)
    (tmp_path / ".part-000004.json-x.tmp").write_text('{"key": ')
    ranker = Counting()
    rank(ranker, GOLDEN, resume=tmp_path, resume_key="k")
    assert len(ranker.asked) == 35


@pytest.mark.parametrize("writes", [0, 3], ids=["the key", "a part"])
def test_a_full_disk_is_one_clear_error_and_leaves_whole_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    """The key and two parts of ten answers are written before the disk is full, or nothing is."""
    synced: list[int] = []

    def fills(handle: int) -> None:
        synced.append(handle)
        if len(synced) > writes:
            raise OSError(errno.ENOSPC, "No space left on device")

    where: dict[str, Any] = {"resume": tmp_path / "parts", "resume_key": "k", "chunk": 10}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fills)
        with pytest.raises(
            ConfigurationError,
            match=r"^resume=.*parts: answers cannot be written .*: No space left",
        ):
            rank(Counting(), GOLDEN, **where)
    names = ["key.json", "part-000001.json", "part-000002.json"]
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == names[:writes]
    ranker = Counting()
    assert rank(ranker, GOLDEN, **where).rankings() == rank(workers.search, GOLDEN).rankings()
    assert len(ranker.asked) == (40 if writes else 60)


def test_a_folder_that_cannot_be_made_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *args: object, **kwargs: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ConfigurationError, match="answers cannot be written there: Permission de"):
        rank(workers.search, GOLDEN, resume=tmp_path / "parts", resume_key="k")
