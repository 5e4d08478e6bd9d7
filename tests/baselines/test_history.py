"""The history of records in git: renames, breaks, broken versions, and the commit of a fall."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate
from pytest_rankcheck.baselines.change import Approval
from pytest_rankcheck.baselines.history import histories
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.command_line.main import main

QUERIES = [f"q{number}" for number in range(4)]
FILE = "tests/baselines/test_rank/test_rr--web.json"
RR = Metric.parse("RR")


def record(ranks: Sequence[int], queries: Sequence[str] = QUERIES, name: str = "web") -> Record:
    """Return the record of a ranker that finds the answer of each query at a rank."""
    golden = GoldenSet.from_dict({query: {"good": 1} for query in queries}, name=name)
    run = Run.from_dict(
        {
            query: [f"d{place}" for place in range(1, rank)] + ["good"]
            for query, rank in zip(queries, ranks, strict=True)
        }
    )
    return Record.of(evaluate(run, golden), [RR])


class Repository:
    """A repository, with a clock that goes on by a day with each commit."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.day = folder, 0
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, **variables: str) -> str:
        who = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (
                ("NAME", "Ada"),
                ("EMAIL", "ada@example.org"),
                ("DATE", f"2026-01-{self.day + 1:02}T12:00:00+00:00"),
            )
        }
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **who, **variables},
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | None], author: str = "Ada") -> str:
        """Write or delete files, and commit that; return the commit."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True) if text is None else path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change", "--allow-empty", GIT_AUTHOR_NAME=author)
        self.day += 1
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.chdir(tmp_path)
    return Repository(tmp_path)


def test_each_commit_of_a_record_is_a_point(repository: Repository) -> None:
    repository.commit({FILE: record([1, 1, 1, 1]).text})
    fallen = record([1, 1, 2, 4])
    approval = Approval("half the latency", "2026-01-02T00:00:00Z", None, "Ada")
    at = repository.commit({FILE: replace(fallen, approvals=(approval,)).text, "x": ""})
    repository.commit({"README": "not about records"})
    (history,) = histories(repository.folder)
    first, second = history.points
    assert first.means == {"RR": 1.0}
    assert first.moves == {}
    assert second.commit.id == at
    assert second.commit.author == "Ada"
    assert second.commit.date.startswith("2026-01-02")
    # (1 + 1 + 1/2 + 1/4) / 4
    assert second.means["RR"] == pytest.approx(0.6875)
    assert second.moves["RR"] == pytest.approx(-0.3125)
    assert second.gain("RR") == pytest.approx(-0.3125)
    assert second.reasons == ("half the latency",)
    assert second.gap == ""


def test_a_changed_golden_set_breaks_the_line_and_unchanged_queries_link_it(
    repository: Repository,
) -> None:
    repository.commit({FILE: record([1, 1, 1, 2]).text})
    # q0 to q3 fall from 0.875 to 0.625; the new query pulls the mean up or down besides.
    repository.commit({FILE: record([1, 2, 2, 2, 1], [*QUERIES, "q9"]).text})
    (history,) = histories(repository.folder)
    point = history.points[1]
    assert point.gap == "golden set: 1 added, 0 removed, 0 edited"
    assert point.means["RR"] == pytest.approx((1 + 0.5 * 3 + 1) / 5)
    assert point.moves["RR"] == pytest.approx(0.625 - 0.875)


def test_another_depth_breaks_the_line_and_nothing_links_it(repository: Repository) -> None:
    before = record([1, 1, 1, 1])
    repository.commit({FILE: replace(before, depth=10).text})
    repository.commit({FILE: replace(before, depth=20).text})
    (history,) = histories(repository.folder)
    assert "depth" in history.points[1].gap
    assert history.points[1].moves == {}


def test_a_renamed_test_keeps_its_past(repository: Repository) -> None:
    other = "tests/baselines/test_rank/test_other--web.json"
    repository.commit({FILE: record([1, 1, 1, 1]).text, other: record([4, 4, 4, 4]).text})
    moved = FILE.replace("test_rank/", "test_ranking/")
    renamed = "tests/baselines/test_ranking/test_another--web.json"
    repository.commit(
        {FILE: None, other: None, moved: record([1, 1, 1, 2]).text, renamed: record([4] * 4).text}
    )
    by_path = {each.path: each for each in histories(repository.folder)}
    assert by_path.keys() == {moved, renamed}
    assert [point.means["RR"] for point in by_path[moved].points] == [1.0, 0.875]
    assert [point.means["RR"] for point in by_path[renamed].points] == [0.25, 0.25]


def test_a_record_that_comes_back_keeps_its_past(repository: Repository) -> None:
    for text in (record([1, 1, 1, 1]).text, None, record([1, 1, 1, 2]).text):
        repository.commit({FILE: text})
    (history,) = histories(repository.folder)
    assert [point.means["RR"] for point in history.points] == [1.0, 0.875]
    assert not history.is_gone


def test_another_golden_set_is_no_rename(repository: Repository) -> None:
    repository.commit({FILE: record([1, 1, 1, 1]).text})
    other = FILE.replace("web", "shop")
    repository.commit({FILE: None, other: record([1] * 3, ["a", "b", "c"], "shop").text})
    found = histories(repository.folder)
    assert [(each.path, each.is_gone) for each in found] == [(other, False), (FILE, True)]


def test_what_cannot_be_read_is_counted_and_what_is_foreign_is_not_ours(
    repository: Repository,
) -> None:
    text = record([1, 1, 1, 1]).text
    repository.commit({FILE: text.replace('"version": 4', '"version": 3')})
    repository.commit({FILE: text[:100]})
    foreign = FILE.replace("test_rr", "foreign")
    repository.commit({FILE: text, foreign: '{"what": "not ours"}'})
    (history,) = histories(repository.folder)
    assert (history.path, history.skipped, len(history.points)) == (FILE, 2, 1)


def test_merged_branches_are_one_step_and_bare_clones_have_it_too(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repository.commit({FILE: record([1, 1, 1, 1]).text})
    repository.git("checkout", "-q", "-b", "branch")
    repository.commit({FILE: record([2, 1, 1, 1]).text})
    repository.commit({FILE: record([2, 2, 1, 1]).text})
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "branch")
    bare = tmp_path_factory.mktemp("bare")
    repository.git("clone", "-q", "--bare", ".", str(bare))
    for folder in (repository.folder, bare):
        (history,) = histories(folder)
        assert [point.means["RR"] for point in history.points] == [1.0, 0.75]


def test_a_partial_clone_fetches_all_that_it_lacks_at_once(
    repository: Repository,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for ranks in ([1, 1, 1, 1], [1, 1, 1, 2], [1, 1, 2, 2]):
        repository.commit({FILE: record(ranks).text})
    repository.git("config", "uploadpack.allowFilter", "true")
    partial, trace = tmp_path_factory.mktemp("partial"), repository.folder / "trace"
    source = f"file://{repository.folder}"
    repository.git("clone", "-q", "--filter=blob:none", "--no-checkout", source, str(partial))
    monkeypatch.setenv("GIT_TRACE", str(trace))
    (history,) = histories(partial)
    assert [point.means["RR"] for point in history.points] == [1.0, 0.875, 0.75]
    assert trace.read_text().count("built-in: git fetch") == 1


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def fallen(repository: Repository) -> Repository:
    repository.commit({FILE: record([1, 1, 1, 1]).text})
    approval = Approval("half the latency", "2026-01-02T00:00:00Z", None, "Ada")
    repository.commit({FILE: replace(record([1, 1, 2, 4]), approvals=(approval,)).text})
    repository.commit({FILE: replace(record([1, 1, 2, 2]), approvals=(approval,)).text})
    return repository


def test_a_line_for_each_metric_and_its_falls(
    fallen: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history"]) == 0
    ids = fallen.git("rev-list", "--reverse", "HEAD").split()
    assert capsys.readouterr().out.splitlines() == [
        f"{FILE}: 3 versions",
        f"  RR  █▁▂  first 1.0000, best 1.0000 ({ids[0][:9]}), now 0.7500",
        f'    -0.3125  {ids[1][:9]} 2026-01-02 Ada  "half the latency"',
        f"    +0.0625  {ids[2][:9]} 2026-01-03 Ada",
        "this is what was approved, not what ran",
    ]


def test_the_commit_that_broke_a_query(
    fallen: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", FILE, "--query", "q2"]) == 0
    ids = fallen.git("rev-list", "--reverse", "HEAD").split()
    assert capsys.readouterr().out.splitlines() == [
        f"{FILE}: 3 versions, query q2",
        f"  {ids[0][:9]} 2026-01-01 Ada  RR 1.0000",
        "      good",
        f'  {ids[1][:9]} 2026-01-02 Ada  RR 0.5000  "half the latency"',
        "      d1, good",
        "this is what was approved, not what ran",
    ]


def test_a_record_of_rankings_alone_has_the_documents_of_a_query(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    for ranks in ([1, 1, 1, 1], [1, 1, 2, 1]):
        repository.commit({FILE: replace(record(ranks), metrics={}).text})
    assert main(["history", "--query", "q2"]) == 0
    ids = repository.git("rev-list", "--reverse", "HEAD").split()
    assert capsys.readouterr().out.splitlines() == [
        f"{FILE}: 2 versions, query q2",
        f"  {ids[0][:9]} 2026-01-01 Ada",
        "      good",
        f"  {ids[1][:9]} 2026-01-02 Ada",
        "      d1, good",
        "this is what was approved, not what ran",
    ]
    assert main(["history"]) == 2


def test_since_starts_at_the_point_before(
    fallen: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", "--since", "2026-01-03 00:00"]) == 0
    assert "first 0.6875" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [["history", "no.json"], ["history", "--query", "q77"], ["history", "--metric", "nDCG@10"]],
)
def test_what_no_commit_has_is_an_error(
    fallen: Repository, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert "no commit of this branch has" in capsys.readouterr().err


def test_a_shallow_clone_is_said(
    fallen: Repository,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shallow = tmp_path_factory.mktemp("shallow")
    fallen.git("clone", "-q", "--depth=1", f"file://{fallen.folder}", str(shallow))
    monkeypatch.chdir(shallow)
    assert main(["history"]) == 0
    out = capsys.readouterr().out
    assert "1 version" in out
    assert "shallow clone" in out
    assert "git fetch --unshallow origin" in out


def report(created: str, now: float) -> str:
    gate = {"test": "t::test_rr", "golden_set": "web", "metric": "RR", "slice": "", "now": now}
    of_slice = {**gate, "slice": "locale=de", "now": 0.1}
    baseline = {
        "file": FILE,
        "golden_set": "web",
        "test": "t::test_rr",
        "why_not": None,
        "is_expected": True,
    }
    return json.dumps(
        {
            "format": "pytest-rankcheck report",
            "version": 2,
            "created": created,
            "commit": None,
            "baselines": [baseline],
            "gates": [gate, of_slice],
        }
    )


def test_all_points_are_json_and_an_unknown_value_is_null(fallen: Repository) -> None:
    assert main(["history", "--query", "q0", "--json", "all.json"]) == 0
    points = json.loads(Path("all.json").read_text())
    assert [each["means"]["RR"] for each in points] == [1, 0.6875, 0.75]
    assert [each["commit"]["author"] for each in points] == ["Ada"] * 3
    assert points[0]["query"]["top"][0] == "good"
    version = record([1, 1, 1, 1])
    values = {"RR": np.array([np.nan, 1.0, 1.0, 1.0])}
    text = replace(version, queries=replace(version.queries, values=values)).text
    fallen.commit({FILE: text})
    assert main(["history", "--query", "q0", "--json", "all.json"]) == 0
    assert json.loads(Path("all.json").read_text())[-1]["query"]["values"] == {"RR": None}


def test_reports_are_points_in_both_formats(
    fallen: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("nightly").mkdir()
    Path("nightly/a.json").write_text(report("2026-01-05T00:00:00Z", 0.72))
    Path("nightly/b.json").write_text(report("2026-01-04T00:00:00Z", 0.74))
    assert main(["history", "--html", "page.html", "--reports", "nightly/*.json"]) == 0
    assert "    RR in 2 reports: 0.7200 to 0.7400, last 0.7200" in capsys.readouterr().out
    assert main(["history", "--reports", "nightly/a.json"]) == 0
    assert "    RR in 1 report: 0.7200 to 0.7200, last 0.7200" in capsys.readouterr().out
    assert main(["history", "--reports", "weekly/*.json"]) == 2
    assert "no file matches 'weekly/*.json'" in capsys.readouterr().err
    page = Path("page.html").read_text()
    assert page.count('class="ran"') == 2
    assert "half the latency" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log.diffMerges", "combined"),
        ("log.follow", "true"),
        ("diff.relative", "true"),
        ("log.showRoot", "false"),
        ("core.quotePath", "true"),
    ],
)
def test_all_records_are_read_in_any_folder_and_configuration(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    repository.git("config", name, value)
    repository.commit({FILE: record([1, 1, 1, 1]).text, "docs/page": "of other things"})
    repository.git("checkout", "-q", "-b", "branch")
    repository.commit({FILE: record([2, 1, 1, 1]).text})
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "branch")
    for folder, path in (("docs", f"../{FILE}"), ("tests", FILE.removeprefix("tests/"))):
        monkeypatch.chdir(repository.folder / folder)
        (history,) = histories(Path.cwd())
        assert (history.path, len(history.points)) == (FILE, 2)
        assert main(["history", path]) == 0
        assert main(["history", str(repository.folder / FILE)]) == 0


def test_no_name_confuses_it(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """git allows all but zero bytes in the names of authors and files."""
    file, author = FILE.replace("tests", "te\x01sts \x02\u00e4"), "E\x1b[2J\x01v\x02il"
    repository.commit({file: record([1, 1, 1, 1]).text}, author="0 :000000 M")
    approval = Approval("\ud800 slow", "2026-01-09T00:00:00Z", None, "Ada")
    repository.commit({file: replace(record([4] * 4), approvals=(approval,)).text}, author)
    (history,) = histories(repository.folder)
    assert [point.commit.author for point in history.points] == ["0 :000000 M", author]
    assert history.path == file
    assert main(["history", "--html", "page.html"]) == 0
    for text in (capsys.readouterr().out, Path("page.html").read_text("utf-8")):
        assert "E\\x1b[2J\\x01v\\x02il" in text
        assert "\\ud800 slow" in text
        assert "\x1b" not in text
        assert "\x01" not in text


def test_the_page_escapes_what_people_wrote(fallen: Repository) -> None:
    approval = Approval("<script>alert(1)</script>", "2026-01-09T00:00:00Z", None, "Ada")
    fallen.commit({FILE: replace(record([4] * 4), approvals=(approval,)).text})
    assert main(["history", "--html", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
