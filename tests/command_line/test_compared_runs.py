"""``compare`` with more than two files, or with ``--against``: a table that judges nothing."""

from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, Metric, Record, Run, evaluate
from pytest_rankcheck.command_line.main import main

GOLDEN = ("--golden", "web.jsonl")


@pytest.fixture(autouse=True)
def third_run(folder: Path) -> None:
    """Write a run in which every query is a little different from the two others."""
    rankings = {f"q{i:02}": ["bad"] * (i % 3 == 0) + ["good", "x"] for i in range(40)}
    Run.from_dict(rankings).save(folder / "third.run")


def test_several_runs_are_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["good.run", "worse.run", "third.run"]
    assert main(["compare", *files, *GOLDEN, "--metric", "RR", "--by", "locale"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("web, compared with good.run (95% intervals; p by Holm)\n")
    rows = [line.split() for line in out.splitlines()]
    base = "good.run RR 1.0000 0.0000 - - - 0 40 0 - 1.0000"
    assert rows[3] == base.split()
    # 14 of 40 queries fall from 1 to 1/2: -0.175; scipy.stats.ttest_rel: p = 0.00007, twice by Holm
    assert rows[5][:3] == ["third.run", "RR", "0.8250"]
    assert rows[5][3:7] == ["-0.1750", "-0.2522", "-0.0978", "0.0001"]
    assert rows[5][7:10] == ["0", "26", "14"]
    assert "worse.run RR     de     0.8500     -0.1500 -0.2600 -0.0400" in out
    assert "regressed" not in out


def test_two_runs_with_against_are_a_table_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "good.run", "worse.run", *GOLDEN]) == 1
    assert "regressed" in capsys.readouterr().out
    assert main(["compare", "good.run", "worse.run", *GOLDEN, "--against", "./worse.run"]) == 0
    out = capsys.readouterr().out
    assert "compared with worse.run" in out
    assert "good.run  nDCG@10 1.0000      0.0554" in out


def test_a_baseline_can_be_one_of_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "base.json", "worse.run", "third.run", *GOLDEN]) == 0
    out = capsys.readouterr().out
    assert "base.json P@1    1.0000" in out
    assert "third.run P@1    0.6500" in out
    assert "          RR     0.8250" in out
    assert "nDCG" not in out, "the baseline gates RR and P@1"
    # A baseline of another version of a query has other values.
    judged = {f"q{i:02}": {"good": 2 if i else 1, "bad": 0} for i in range(40)}
    run, golden = Run.load(folder / "good.run"), GoldenSet.from_dict(judged, name="web")
    record = Record.of(evaluate(run, golden), [Metric.parse("RR")])
    (folder / "old.json").write_text(record.text, "utf-8")
    assert main(["compare", "old.json", "worse.run", "third.run", *GOLDEN]) == 2
    assert "'old.json' was evaluated on other queries or judgments" in capsys.readouterr().err


def test_what_a_table_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    for options, said in (
        (["--against", "no.run"], "against=no.run: unknown run; the runs are good.run, worse.run"),
        (["third.run", "--gate", "significant"], "--gate is for two files without --against"),
        (["third.run", "--html", "r.html"], "--html is for two files without --against"),
        (["no.run"], "no.run does not exist"),
    ):
        more = [each for each in options if each.endswith(".run") and "--against" not in options]
        given = ["compare", "good.run", "worse.run", *more, *GOLDEN]
        assert main([*given, *(each for each in options if each not in more)]) == 2
        assert said in " ".join(capsys.readouterr().err.split())
