"""``compare``, ``show``, ``lint`` and ``metrics``: what they print, write, and how they exit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from schemas import report_schema

from pytest_rankcheck import Run
from pytest_rankcheck.baselines.record_file import text_of_content
from pytest_rankcheck.command_line.main import main
from pytest_rankcheck.metrics.metric_registry import definitions

GOLDEN = ("--golden", "web.jsonl")


def test_two_runs_are_compared_and_the_exit_code_is_that_of_the_gate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["compare", "good.run", "worse.run", *GOLDEN, "--by", "locale"]) == 1
    out = capsys.readouterr().out
    assert "nDCG@10 regressed on golden set 'web' (40 queries)" in out
    assert "RR regressed on golden set 'web' (40 queries): 1.0000 -> 0.9250, -0.0750" in out
    assert "locale=de (20 queries" in out
    assert main(["compare", "worse.run", "good.run", *GOLDEN]) == 0
    assert "+0.0750  passed\n" in capsys.readouterr().out
    gate = ["--gate", "tolerance(abs=0.1)", "--metric", "RR"]
    assert main(["compare", "good.run", "worse.run", *GOLDEN, *gate]) == 0
    assert "passed, lower" in capsys.readouterr().out


def test_a_run_with_other_ids_is_not_compared_and_noted_where_it_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = (folder / "good.run").read_text("utf-8")
    (folder / "upper.run").write_text(good.upper().replace("Q", "q"), "utf-8")
    assert main(["compare", "good.run", "upper.run", *GOLDEN]) == 2
    assert 'rankcheck_doc_id = ["lower"]' in capsys.readouterr().err
    assert main(["show", "upper.run", *GOLDEN]) == 0
    out = capsys.readouterr().out
    assert "no ranked document is judged in any of the 40 queries" in out
    assert "judge more" not in out


def test_a_run_is_shown_on_the_configured_golden_set(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "worse.run"]) == 2
    assert "no golden set: give it with --golden" in capsys.readouterr().err
    (folder / "pytest.ini").write_text("[pytest]\nrankcheck_golden = web.jsonl\n", "utf-8")
    assert main(["show", "worse.run", "--metric", "RR"]) == 0
    assert "web         RR             -  0.9250       -  not gated" in capsys.readouterr().out
    assert main(["show", "base.json"]) == 0
    assert "baseline of golden set 'web'" in capsys.readouterr().out


def test_an_inconclusive_verdict_counts_as_given_or_configured(folder: Path) -> None:
    gate = "noninferior(margin=0.05, alpha=0.005)"
    compared = ["compare", "good.run", "worse.run", *GOLDEN, "--metric", "RR", "--gate", gate]
    for word, code in (("pass", 0), ("warn", 2), ("fail", 1)):
        assert main([*compared, "-o", f"rankcheck_inconclusive={word}"]) == code
        (folder / "pytest.ini").write_text(f"[pytest]\nrankcheck_inconclusive = {word}\n")
        assert main(compared) == code


def test_a_report_of_an_inconclusive_verdict_is_a_warning(folder: Path) -> None:
    gate = "noninferior(margin=0.05, alpha=0.005)"
    compared = ["compare", "good.run", "worse.run", *GOLDEN, "--metric", "RR", "--gate", gate]
    assert main([*compared, "--markdown", "r.md"]) == 2
    assert (
        (folder / "r.md").read_text("utf-8").startswith("## ⚠️ Ranking quality: 1 gate passed with")
    )


def test_a_report_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = ["--json", "out/r.json", "--markdown", "out/r.md", "--html", "out/r.html"]
    assert main(["compare", "good.run", "worse.run", *GOLDEN, *written]) == 1
    report = json.loads((folder / "out/r.json").read_text("utf-8"))
    report_schema().validate(report)
    assert report["gates"][0]["test"] == "good.run -> worse.run"
    assert (folder / "out/r.md").read_text("utf-8").startswith("## ❌")
    assert "<h1>Ranking quality</h1>" in (folder / "out/r.html").read_text("utf-8")
    out = capsys.readouterr().out
    assert "RR regressed on golden set 'web' (40 queries): 1.0000 -> 0.9250, -0.0750" in out


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "base.json"]) == 0
    out = capsys.readouterr().out
    assert "pytest-rankcheck baseline of golden set 'web': 40 queries, 80 judgments" in out
    assert "  RR  1.0000\n" in out
    assert main(["show", "worse.run", *GOLDEN, "--metric", "RR", "--by", "locale"]) == 0
    out = capsys.readouterr().out
    assert "web         RR             -  0.9250" in out
    assert "RR by locale:\n  de  0.8500 (20)\n  en  1.0000 (20)" in out


def test_lint(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "web.jsonl"]) == 0
    out = capsys.readouterr().out
    assert "golden set 'web' (40 queries): 0 errors" in out
    (folder / "two.qrels").write_text("a 0 x 1\na 0 x 2\n", "utf-8")
    assert main(["lint", "web.jsonl", "two.qrels"]) == 1
    assert "contradictory-judgment" in capsys.readouterr().out


BROKEN = {
    "<<<<<<< HEAD\n{before}=======\n{before}>>>>>>> feature\n": "base.json:1: unresolved merge conflict",
    "{edited}": "base.json: this baseline was edited by hand",
    "{cut}": "the file was cut short",
    "": "it is empty",
}


@pytest.mark.parametrize(("text", "says"), BROKEN.items(), ids=["merge", "edited", "cut", "empty"])
def test_lint_of_baselines(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    before = (folder / "base.json").read_text("utf-8")
    edited = before.replace('"mean": 1.0', '"mean": 0.9', 1)
    assert edited != before
    baselines = folder / "tests" / "baselines" / "test_ranking"
    baselines.mkdir(parents=True)
    file = baselines / "rr--base.json"
    file.write_text(text.format(before=before, edited=edited, cut=before[:200]), "utf-8")
    assert main(["lint", str(file), "web.jsonl", "base.json"]) == 1
    out = capsys.readouterr().out
    assert says in out
    assert "fix it: run its test" in out
    assert out.endswith(
        "golden set 'web' (40 queries): 0 errors, 0 warnings\nbaseline base.json: whole\n"
    )


def test_lint_of_rank_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = "[test.floor]\nat_least = { RR = 0.5 }\n"
    (folder / "test_good.rank.toml").write_text(good, "utf-8")
    (folder / "test_bad.rank.toml").write_text(good.replace("RR", "RQ"), "utf-8")
    assert main(["lint", "test_good.rank.toml"]) == 0
    assert main(["lint", "test_bad.rank.toml", "test_good.rank.toml"]) == 1
    good_line, bad_line, last = capsys.readouterr().out.splitlines()
    assert good_line == last == "rank file test_good.rank.toml: 1 test"
    assert bad_line.startswith("test_bad.rank.toml:2: unknown metric 'RQ'")


def test_a_metric_of_a_baseline_that_is_not_known_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads((folder / "base.json").read_text("utf-8").replace('"RR"', '"Own"'))
    (folder / "own.json").write_text(text_of_content(content), "utf-8")
    assert main(["show", "own.json"]) == 0
    assert "Own  1.0  not known here" in capsys.readouterr().out
    assert main(["lint", "own.json"]) == 0


def test_lint_with_a_corpus(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "two.qrels").write_text("a 0 7 1\na 0 8 0\n", "utf-8")
    (folder / "corpus.txt").write_text("doc_id\n007\n008\n", "utf-8")
    assert main(["lint", "two.qrels", "-o", "rankcheck_documents=corpus.txt"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  misspelt-id (error): two.qrels:1, two.qrels:2"
    (folder / "pytest.ini").write_text("[pytest]\nrankcheck_documents = corpus.txt\n", "utf-8")
    assert main(["lint", "two.qrels"]) == 1
    (folder / "pytest.ini").write_text("[pytest]\nrankcheck_documents = none.txt\n", "utf-8")
    assert main(["lint", "two.qrels"]) == 2
    assert "none.txt does not exist; correct rankcheck_documents" in capsys.readouterr().err


def test_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(not line.startswith(" ") for line in lines) == len(definitions())
    for name in ("MRR", "rr@10", "RR(rel=2)"):
        assert main(["metrics", name]) == 0
        assert capsys.readouterr().out.startswith("RR\n  Reciprocal rank:")
    for name, shown in (("rbp", "RBP(p=0.9)"), ("recall_at_3", "R@3"), ("MAP", "AP@4")):
        assert main(["metrics", name]) == 0
        assert f" {shown}" in capsys.readouterr().out


def test_an_error_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, says in (
        (["show", "nothere.run", *GOLDEN], "nothere.run does not exist"),
        (["show", "good.run"], "give it with --golden"),
        (["compare", "nothere", "good.run", *GOLDEN], "nothere does not exist"),
        (["compare", "good.run", "good.run", *GOLDEN, "--gate", "x()"], "'x()' is not a gate"),
        (["compare", "good.run", "good.run", *GOLDEN, "--metric", "XX"], "unknown metric 'XX'"),
        (["compare", "good.run", "good.run", *GOLDEN, "--by", "nothing"], "no attribute 'nothing'"),
        (["compare", "base.json", "good.run", *GOLDEN], "base.json is a baseline, which a test"),
        (["compare", "good.run", "good.run", *GOLDEN, "--json", "web.jsonl/r"], "web.jsonl: "),
        (["metrics", "nDGC"], "did you mean 'nDCG'"),
        (["metrics", "Coverage"], "'Coverage' is not a metric here: "),
        (["lint", "nothere.jsonl"], "nothere.jsonl"),
        (["show", "good.run", *GOLDEN, "-o", "rankcheck_depth=1e3"], "rankcheck_depth = 1e3 is"),
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"python -m pytest_rankcheck {arguments[0]}: ")
        assert says in error


def test_characters_that_an_output_lacks_are_escaped(tmp_path: Path) -> None:
    """Such as in a file on Windows."""
    tmp_path.joinpath("web.jsonl").write_text('{"query_id": "\u00e4", "relevance": {}}\n', "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest_rankcheck", "lint", "web.jsonl"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "\\xe4" in done.stdout
    assert "Traceback" not in done.stderr


def test_it_runs_as_a_module_and_tolerates_a_closed_pipe() -> None:
    piped = f"{sys.executable} -m pytest_rankcheck metrics | head -1"
    done = subprocess.run(piped, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("AP (MAP)")
    assert "BrokenPipe" not in done.stderr


def test_the_card_of_a_session_metric(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("SessionRR", "SessionRR(abandoned=zero)"):
        assert main(["metrics", name]) == 0
        output = capsys.readouterr().out
        assert "unit          session" in output
        assert "laws          do not apply to a metric of search sessions" in output
        assert "abandoned=" in output


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert "exit codes: 0 passed, 1 the gate blocks" in out
    assert "--import MODULE" in out
    for command in ("compare", "show", "lint", "sessions", "metrics", "history", "retire", "unrun"):
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        assert ended.value.code == 0
        out = capsys.readouterr().out
        assert out.startswith(f"usage: python -m pytest_rankcheck {command} ")


def test_mostly_tied_scores_are_noted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tied = {f"q{index:02}": {"good": 1.0, "bad": 1.0} for index in range(40)}
    Run.from_dict(tied).save(folder / "tied.run")
    note = "golden set 'web': the scores of run 'tied.run' are mostly tied, as in query 'q00'"
    for command in (["show"], ["compare", "good.run"], ["compare", "tied.run"]):
        main([*command, "tied.run", *GOLDEN])
        assert note in capsys.readouterr().out
    main(["compare", "good.run", "worse.run", *GOLDEN])
    assert "mostly tied" not in capsys.readouterr().out


@pytest.mark.filterwarnings("default::pytest_rankcheck.errors.MetricWarning")
def test_a_warning_is_printed_once_without_code(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Run.from_dict({f"q{index:02}": ["bad"] for index in range(40)}).save(folder / "short.run")
    for command in (["show", "short.run"], ["compare", "short.run", "short.run"]):
        assert main([*command, *GOLDEN, "--metric", "R@500", "--metric", "R@500"]) == 0
        assert capsys.readouterr().err == (
            "warning: R@500: no ranking of run 'short.run' has 500 documents; the longest "
            "(40 of 40) ends at rank 1, so relevant documents further down are not counted; give a "
            "run that goes further down, or a cutoff of 1\n"
        )


OWN = Run.from_dict({f"q{index:02}": [f"q{index:02}", "good"] for index in range(40)})
SAID = (
    "40 of 40 queries rank a document with their own id: q00, q01, q02, q03, q04 and 35 more; if it "
    "is the query itself, own_document=drop (rankcheck_conventions) leaves it out, as BEIR does"
)


def test_what_may_be_wrong_with_the_documents_of_a_run_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    OWN.save("own.run")
    for command in (
        ("show", "own.run", "--golden", "web.jsonl"),
        ("compare", "good.run", "own.run", "--golden", "web.jsonl"),
    ):
        main(command)
        assert SAID in " ".join(capsys.readouterr().out.split()), command
    main(("show", "good.run", "--golden", "web.jsonl"))
    assert "own id" not in capsys.readouterr().out
