"""A folder with a golden set, two runs and a baseline, for the commands to read."""

from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, Metric, Record, Run, evaluate


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a golden set, a run, a worse one, and the baseline of the first."""
    monkeypatch.chdir(tmp_path)
    queries = [f"q{index:02}" for index in range(40)]
    golden = GoldenSet.from_dict(
        {query: {"good": 2, "bad": 0} for query in queries},
        attributes={query: {"locale": "de" if query < "q20" else "en"} for query in queries},
        name="web",
    )
    golden.save(tmp_path / "web.jsonl")
    good = {query: ["good", "bad"] for query in queries}
    worse = {**good, **dict.fromkeys(queries[:6], ["bad", "good"])}
    Run.from_dict(good).save(tmp_path / "good.run")
    Run.from_dict(worse).save(tmp_path / "worse.run")
    record = Record.of(
        evaluate(Run.from_dict(good), GoldenSet.load(tmp_path / "web.jsonl")),
        [Metric.parse("RR"), Metric.parse("P@1")],
    )
    (tmp_path / "base.json").write_text(record.text, "utf-8")
    return tmp_path
