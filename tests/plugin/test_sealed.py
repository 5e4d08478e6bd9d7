"""Sealed golden sets: no output of a session has a text, an id, or a value of a single query."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from project import MAIN, NEEDS_GIT, Project

pytestmark = pytest.mark.filterwarnings("always:slow")
SECRETS = re.compile(r"hidden-q\d|zebra|zdoc")
QUERIES = [
    {
        "query_id": f"hidden-q{number}",
        "query": f"zebra {number}",
        "relevance": {f"zdoc-{number}": 2, "zdoc-shared": 0},
        "locale": "de" if number % 2 else "en",
    }
    for number in range(40)
]
CONFIGURATION = """
[tool.pytest.ini_options]
pythonpath = ["."]
rankcheck_golden = ["golden/web.jsonl", "${HOLDOUT}"]
rankcheck_sealed = ["holdout"]
rankcheck_ranker = "engine:search"
"""
ENGINE = """
import logging, pathlib, sys, warnings

def search(text):
    mode = (pathlib.Path(__file__).parent / "mode").read_text()
    print("asked for", text)
    print("asked for", text, file=sys.stderr)
    logging.getLogger().warning("asked for %s", text)
    warnings.warn(f"slow: {text}")
    number = text.split()[-1]
    if mode == "broken" and "zebra" in text:
        raise KeyError(text)
    if text.startswith("query"):
        return [f"doc of {text}"]
    places = [f"zdoc-{number}", f"zdoc-shared", f"zdoc-unjudged-{number}"]
    return places[::-1] if mode == "worse" else places
"""
TEST = """
from pytest_rankcheck import Gate, assert_expectations, assert_not_regressed

def test_sealed(evaluation, baseline):
    metrics = ["nDCG@3", "RR"]
    assert_not_regressed(evaluation, baseline, metrics, gate=Gate.{gate}, by="locale")
"""
REPORTS = (
    *("--rankcheck-json=out/r.json", "--rankcheck-html=out/r.html"),
    *("--rankcheck-markdown=out/r.md", "--rankcheck-unjudged=out/u.csv"),
    *("--junitxml=out/junit.xml", "-o", "junit_logging=all", "-o", "junit_log_passing_tests=true"),
    *("--rankcheck-save-run=out/runs", "-rA", "-vv"),
)


@pytest.fixture
def sealed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a sealed golden set outside of it, whose baselines are recorded."""
    holdout = project.path.parent / f"{project.path.name}-secret" / "holdout.jsonl"
    project.golden(QUERIES, str(holdout))
    monkeypatch.setenv("HOLDOUT", str(holdout))
    rows = "".join(f"zdoc-{number},zebra shoe {number}\n" for number in range(40))
    documents = project.write(str(holdout.with_name("documents.csv")), f"doc_id,title\n{rows}")
    project.write("pyproject.toml", f'{CONFIGURATION}rankcheck_documents = "{documents}"\n')
    project.write("engine.py", ENGINE)
    project.write("mode", "good")
    project.test(TEST.replace("{gate}", "significant()"))
    assert project.run("--snapshot-update").ret == 0
    return project


def outputs(project: Project, done: pytest.RunResult) -> dict[str, str]:
    """Return all that a session printed and wrote, by where."""
    written = {name: data.decode("utf-8", "replace") for name, data in project.files().items()}
    own = ("engine.py", ".git/")
    texts = {name: text for name, text in written.items() if not name.startswith(own)}
    return {**texts, "stdout": done.stdout.str(), "stderr": done.stderr.str()}


def assert_no_secret(project: Project, done: pytest.RunResult) -> None:
    for name, text in outputs(project, done).items():
        found = SECRETS.search(text)
        assert found is None, f"{name}: {text[max(0, found.start() - 200) : found.end() + 100]}"


@pytest.mark.parametrize("mode", ["good", "worse", "broken"])
@pytest.mark.parametrize(
    "gate", ["significant()", "noninferior(margin=0.2)", "tolerance(abs=0.9, max_query_drop=0.1)"]
)
def test_no_output_names_a_query_or_a_document(sealed: Project, mode: str, gate: str) -> None:
    sealed.write("mode", mode)
    sealed.test(TEST.replace("{gate}", gate))
    done = sealed.run(*REPORTS)
    assert_no_secret(sealed, done)
    assert {*map(str, (sealed.path / "out").glob("*.*"))} == {
        str(sealed.path / "out" / name)
        for name in ("r.json", "r.html", "r.md", "u.csv", "junit.xml")
    }
    assert "holdout" in done.stdout.str()
    assert ("KeyError" in done.stdout.str() or "RankerError" in done.stdout.str()) is (
        mode == "broken"
    )


@pytest.mark.slow
def test_workers_seal_too(sealed: Project) -> None:
    sealed.write("mode", "worse")
    done = sealed.run(*REPORTS, "-n", "2")
    assert done.ret == 1
    assert "6 gates failed on golden set 'holdout'" in done.stdout.str()
    assert_no_secret(sealed, done)


def test_a_fall_is_shown_by_its_means_and_counts(sealed: Project) -> None:
    sealed.write("mode", "worse")
    out = sealed.run().stdout.str()
    assert "6 gates failed on golden set 'holdout', which is sealed; --rankcheck-unseal" in out
    assert "  RR  1.0000 -> 0.3333, -0.6667  regressed" in out
    assert "  RR[locale=de]  1.0000 -> 0.3333, -0.6667  regressed" in out
    assert "40 of 40 queries fell" in out


def test_who_has_the_set_unseals_it_on_the_command_line(sealed: Project) -> None:
    sealed.write("mode", "worse")
    assert "zebra 1" in sealed.run("--rankcheck-unseal").stdout.str()
    sealed.write("pyproject.toml", CONFIGURATION + 'addopts = "--rankcheck-unseal"\n')
    assert "zebra 1" not in sealed.run().stdout.str()


def test_the_record_pairs_queries_by_hashes(sealed: Project) -> None:
    record = sealed.record("test_sealed", golden="holdout")
    assert len({line["id"] for line in record["queries"]}) == 40
    assert all(line["values"] == {"RR": 1.0, "nDCG@3": 1.0} for line in record["queries"])
    assert all(len(line["top"]) == 3 for line in record["queries"])
    before = sealed.baseline_file("test_sealed", golden="holdout").read_bytes()
    assert sealed.run("--snapshot-update").ret == 0
    assert sealed.baseline_file("test_sealed", golden="holdout").read_bytes() == before
    sealed.write("mode", "worse")
    done = sealed.run("--rankcheck-approve", "half the latency")
    assert done.ret == 0
    assert_no_secret(sealed, done)
    assert sealed.record("test_sealed", golden="holdout")["metrics"]["RR"]["mean"] < 0.34
    assert sealed.run().ret == 0


@pytest.mark.parametrize(
    ("path", "value"),
    [("${HOLDOUT}", None), ("${HOLDOUT}", ""), ("${HOLDOUT}/holdout.jsonl", None)],
)
def test_a_set_whose_variable_is_not_set_is_left_out(
    sealed: Project, monkeypatch: pytest.MonkeyPatch, path: str, value: str | None
) -> None:
    """CI gives a fork empty secrets."""
    sealed.write("pyproject.toml", CONFIGURATION.replace("${HOLDOUT}", path))
    if value is None:
        monkeypatch.delenv("HOLDOUT")
    else:
        monkeypatch.setenv("HOLDOUT", value)
    done = sealed.run()
    assert done.ret == 0
    assert f"golden set '{path}': left out, because the environment variable" in done.stdout.str()


def test_a_test_of_nothing_but_a_left_out_set_says_so(
    sealed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDOUT")
    sealed.write("pyproject.toml", CONFIGURATION.replace('"golden/web.jsonl", ', ""))
    done = sealed.run()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "${HOLDOUT}: the environment variable is not set" in done.stderr.str()


@NEEDS_GIT
@pytest.mark.parametrize(("options", "code"), [((), 1), (("--rankcheck-unrun=warn",), 0)])
def test_its_gates_did_not_run_against_a_reference(
    sealed: Project, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], code: int
) -> None:
    sealed.commit()
    monkeypatch.delenv("HOLDOUT")
    done = sealed.run(*MAIN, *options)
    assert done.ret == code
    said = "its golden set was left out: ${HOLDOUT}"
    if code:
        said += "; set the environment variable, or accept it: --rankcheck-unrun=warn"
    assert said in done.stdout.str()
    assert "to retire it" not in done.stdout.str()


@NEEDS_GIT
def test_a_reference_names_no_query_either(sealed: Project) -> None:
    sealed.commit()
    sealed.write("mode", "worse")
    for arguments, code in (((), 1), (("--rankcheck-approve", "half the latency"), 0), ((), 0)):
        done = sealed.run(*REPORTS, *MAIN, *arguments)
        assert done.ret == code
        assert_no_secret(sealed, done)


OTHER_CONTENTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "edited": ([{**line, "query": "zebra 99"} for line in QUERIES[:5]] + QUERIES[5:], ""),
    "broken": (
        [{**QUERIES[0], "relevance": {"zdoc-1": "zebra"}}],
        "GoldenSetError on golden set 'holdout', which is sealed",
    ),
    "linted": ([*QUERIES, {**QUERIES[0], "query_id": "hidden-q99"}], "holdout.jsonl::lint <-"),
}


@pytest.mark.parametrize(("lines", "says"), OTHER_CONTENTS.values(), ids=OTHER_CONTENTS)
def test_other_contents_name_nothing(
    sealed: Project, monkeypatch: pytest.MonkeyPatch, lines: list[dict[str, Any]], says: str
) -> None:
    sealed.write("pyproject.toml", CONFIGURATION)
    other = Path(f"{sealed.path}-other") / "holdout.jsonl"
    sealed.golden(lines, str(other))
    monkeypatch.setenv("HOLDOUT", str(other))
    done = sealed.run(*REPORTS, "--rankcheck-lint")
    assert done.ret == 1
    assert says in done.stdout.str()
    assert_no_secret(sealed, done)


def test_a_fixture_of_the_user_is_sealed_by_the_name_of_its_set(sealed: Project) -> None:
    """Also if the ranker fails, before the test has got anything."""
    sealed.write("pyproject.toml", CONFIGURATION.replace("rankcheck_golden", "# rankcheck_golden"))
    path = os.environ["HOLDOUT"]
    sealed.write(
        "conftest.py",
        "import pytest\nfrom pytest_rankcheck import GoldenSet\n\n"
        "@pytest.fixture(scope='session')\n"
        f"def golden_set():\n    return GoldenSet.load({path!r})\n",
    )
    other = (
        "import pytest\nfrom pytest_rankcheck import GoldenSet, evaluate, rank\n\n"
        "@pytest.fixture\n"
        f"def other():\n    return GoldenSet.load({path!r})\n\n"
        "def test_other(other, ranker):\n"
        "    found = evaluate(rank(ranker, other), other)\n"
        "    assert found.ranking(found.query_ids[0]) == ()\n"
    )
    for mode in ("worse", "broken"):
        sealed.write("mode", mode)
        sealed.test(other, "tests/test_other.py")
        done = sealed.run(*REPORTS)
        done.assert_outcomes(failed=1 + (mode == "worse"), errors=mode == "broken")
        assert_no_secret(sealed, done)


def test_candidates_are_not_ranked_on_a_sealed_set(sealed: Project) -> None:
    """The best of many would be fitted to it."""
    failing = "def other(text):\n    raise KeyError(text)\n"
    sealed.write("engine.py", sealed.path.joinpath("engine.py").read_text() + failing)
    text = CONFIGURATION + 'rankcheck_candidates = ["other = engine:other"]\n'
    sealed.write("pyproject.toml", text)
    done = sealed.run("--rankcheck-leaderboard", *REPORTS)
    assert "leaderboard, golden set 'web'" in done.stdout.str()
    assert "leaderboard, golden set 'holdout'" not in done.stdout.str()
    assert_no_secret(sealed, done)


SKIPPING = """
import pytest

def test_skipped(ranking_run):
    pytest.skip(f"slow for {sorted(ranking_run)}")

def test_xfailed(ranking_run):
    pytest.xfail(f"slow for {sorted(ranking_run)}")

@pytest.mark.skip(reason="has a ticket")
def test_marked(ranking_run):
    pass

@pytest.mark.xfail(reason="is known")
def test_known(ranking_run):
    assert sorted(ranking_run) == []

@pytest.mark.xfail
def test_unexplained(ranking_run):
    assert sorted(ranking_run) == []

@pytest.mark.xfail(strict=True)
def test_strict(ranking_run):
    pass
"""


def test_tests_that_are_skipped_or_xfailed_name_nothing(sealed: Project) -> None:
    sealed.test(SKIPPING)
    done = sealed.run(*REPORTS, "--xfail-tb", "-k", "holdout")
    assert_no_secret(sealed, done)
    done.assert_outcomes(skipped=2, xfailed=3, failed=1)
    done.stdout.fnmatch_lines(
        [
            "XPASS(strict) on golden set 'holdout', which is sealed*",
            "SKIPPED * Skipped on golden set 'holdout', which is sealed*",
            "XFAIL *test_known* - AssertionError on golden set 'holdout', which is sealed*",
        ]
    )


SUBTESTS = """
import unittest
import pytest

class TestAnswers(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def given(self, ranking_run):
        self.queries = sorted(ranking_run)

    def test_queries(self):
        for query in self.queries[:2]:
            with self.subTest(query, text=query):
                print(query)
                self.assertEqual(query, "")
"""
SUBTESTS_OF_FIXTURE = """
import pytest

def test_answers(ranking_run, subtests):
    for query in sorted(ranking_run)[:2]:
        with subtests.test(query, text=query):
            print(query)
            assert query == ""
        with subtests.test(text=query):
            pytest.skip(query)
"""


@pytest.mark.parametrize("text", [SUBTESTS, SUBTESTS_OF_FIXTURE], ids=["unittest", "fixture"])
def test_subtests_name_nothing(sealed: Project, text: str) -> None:
    if text is SUBTESTS_OF_FIXTURE and not hasattr(pytest, "Subtests"):
        pytest.skip("pytest 8 has no such fixture")
    sealed.write("pyproject.toml", CONFIGURATION.replace('"golden/web.jsonl", ', ""))
    sealed.test(text)
    done = sealed.run(*REPORTS)
    assert done.ret == 1
    assert "AssertionError on golden set 'holdout', which is sealed" in done.stdout.str()
    assert_no_secret(sealed, done)


@NEEDS_GIT
def test_a_record_takes_the_place_of_that_of_a_renamed_set(
    sealed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed.commit()
    renamed = sealed.path.parent / f"{sealed.path.name}-secret" / "kept.jsonl"
    sealed.golden(QUERIES, str(renamed))
    monkeypatch.setenv("HOLDOUT", str(renamed))
    sealed.write("pyproject.toml", CONFIGURATION.replace('"holdout"', '"kept"'))
    assert sealed.run("--snapshot-update").ret == 0
    done = sealed.run(*MAIN)
    assert done.ret == 0
    assert "test_sealed--kept.json takes the place of" in done.stdout.str()
    assert_no_secret(sealed, done)


def test_answers_are_not_kept_for_a_later_session(sealed: Project) -> None:
    text = sealed.path.joinpath("engine.py").read_text()
    sealed.write("engine.py", text.replace('if mode == "broken"', 'if number == "7"'))
    done = sealed.run("--rankcheck-resume=kept", "--rankcheck-resume-key=1")
    assert done.ret == 1
    assert_no_secret(sealed, done)


def test_a_name_that_seals_nothing_is_an_error(sealed: Project) -> None:
    text = CONFIGURATION.replace('"${HOLDOUT}"', '"golden/web.jsonl"').replace(
        '"holdout"', '"web2"'
    )
    sealed.write("pyproject.toml", text)
    done = sealed.run()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert (
        "rankcheck_sealed: no configured golden set is called web2; they are called web"
        in done.stderr.str()
    )


def test_documents_are_recognised_by_their_hashes(sealed: Project) -> None:
    """So lost answers are seen, and rankings can be compared."""
    sealed.write("pyproject.toml", CONFIGURATION)
    text = sealed.path.joinpath("engine.py").read_text()
    sealed.write("engine.py", text.replace("places = [", 'places = [] if number in "123" else ['))
    done = sealed.run("--rankcheck-unseal")
    assert "5 of 40 queries lost every relevant document" in done.stdout.str()
    assert "zdoc-1 (grade 2)  1 -> not ranked" in done.stdout.str()
    sealed.write("engine.py", text)
    sealed.test(
        "from pytest_rankcheck import assert_ranking_stable\n\n"
        "def test_sealed(evaluation, baseline):\n"
        "    assert_ranking_stable(evaluation, baseline)\n"
    )
    assert sealed.run("--rankcheck-approve", "stable").ret == 0
    assert sealed.run().ret == 0
    sealed.write("mode", "worse")
    done = sealed.run("-k", "holdout")
    assert done.ret == 1
    assert_no_secret(sealed, done)


@NEEDS_GIT
def test_expectations_are_counted(sealed: Project) -> None:
    expected = [
        {**line, "expect": [{"in_top": 1, "documents": [f"zdoc-{number}"]}]}
        for number, line in enumerate(QUERIES)
    ]
    sealed.golden(expected, os.environ["HOLDOUT"])
    sealed.write("pyproject.toml", CONFIGURATION.replace('"golden/web.jsonl", ', ""))
    sealed.test(
        "from pytest_rankcheck import assert_expectations\n\n"
        "def test_expected(ranking_run, golden_set):\n"
        "    assert_expectations(ranking_run, golden_set)\n"
    )
    sealed.baseline_file("test_sealed", golden="holdout").unlink()
    sealed.baseline_file("test_sealed").unlink()
    sealed.commit()
    for mode, counts in (("good", "40 of 40 expectations hold"), ("worse", "40 violated")):
        sealed.write("mode", mode)
        done = sealed.run(*REPORTS, *MAIN)
        assert done.ret == (mode == "worse")
        assert counts in done.stdout.str()
        assert "no test checked" not in done.stdout.str()
        assert_no_secret(sealed, done)


def test_a_floor_says_its_value_and_bound(sealed: Project) -> None:
    sealed.write("mode", "worse")
    sealed.test(
        "from pytest_rankcheck import assert_at_least\n\n"
        "def test_sealed(evaluation):\n"
        "    assert_at_least(evaluation, 'RR', 0.9)\n"
    )
    done = sealed.run()
    assert_no_secret(sealed, done)
    assert "  RR  0.3333  below 0.9000" in done.stdout.str()
    assert "fell" not in done.stdout.str()
