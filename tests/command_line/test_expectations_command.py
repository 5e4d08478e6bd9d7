"""``expectations``: what it checks, what it changes in the golden set, and what it leaves alone."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from pytest_rankcheck import Run
from pytest_rankcheck.command_line import expectations_command
from pytest_rankcheck.command_line.main import main

SHOP = (
    "# our shop\n"
    '{"query_id":"q1","query":"refund","relevance":{"policy":3.0},"expect":'
    '[{"in_top":1,"documents":["policy"],"known_failure":"no stemming"}]}\r\n'
    '{"query_id": "q2", "query": "size chart", "relevance": {"sizes": 3}, "expect": '
    '[{"in_top": 1, "documents": ["sizes"], "known_failure": "no synonyms"}]}\n'
    '{"query_id": "q3", "expect": [{"not_in_top": 2, "documents": ["spam"], "known_failure": '
    '"ads", "severity": "warn"}]}\n'
    '{"query_id": "q4", "query": "\u05d7\u05d9\u05e4\u05d5\u05e9", "expect": [{"above": ["a", "b"], '
    '"known_failure": "ties", "known_rank": 4}, {"results": "some"}]}'
)
"""q1 holds on the run, q2 does not, and q3 is not in the run."""
RUN = {"q1": ["policy", "faq"], "q2": ["shoes", "faq", "sizes"], "q4": ["b", "a"]}


@pytest.fixture(autouse=True)
def shop(folder: Path) -> Path:
    """The golden set in a file, beside a run."""
    file = folder / "shop.jsonl"
    file.write_bytes(SHOP.encode())
    Run.from_dict(RUN).save(folder / "new.run")
    return file


def run_command(*options: str, golden: str = "shop.jsonl", run: str = "new.run") -> int:
    return main(["expectations", run, "--golden", golden, *options])


def test_without_an_option_nothing_is_written(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = shop.stat().st_mtime_ns
    assert run_command() == 1
    out = capsys.readouterr().out
    assert out.startswith(
        "golden set 'shop' (4 queries): 1 of 5 expectations holds, 2 known failures, 2 known "
        "failures that now hold\n"
    )
    assert 'q1 "refund" [shop.jsonl:2]: expected policy in the top 1' in out
    assert out.endswith(
        "--remove-fixed would remove known_failure from 1 expectation\n"
        "--record-ranks would write known_rank for 2 known failures\n"
        "known_failure was kept where run 'new.run' lacks the query, which shows nothing: q3\n"
    )
    assert (shop.read_bytes(), shop.stat().st_mtime_ns) == (SHOP.encode(), before)


def test_marks_that_hold_are_removed_and_nothing_else(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.chmod(0o640)
    assert run_command("--remove-fixed") == 0  # q3 only warns
    assert shop.read_bytes() == SHOP.replace(',"known_failure":"no stemming"', "").encode()
    assert stat.S_IMODE(shop.stat().st_mode) == 0o640
    out = capsys.readouterr().out
    assert (
        "shop.jsonl: removed known_failure from 1 expectation. Review the change and commit the "
        'file\n  q1 "refund": policy in the top 1; it was marked "no stemming"\n'
    ) in out
    assert run_command("--remove-fixed") == 0  # again: nothing to do
    assert "removed" not in capsys.readouterr().out
    assert sorted(path.name for path in shop.parent.glob("*shop*")) == ["shop.jsonl"]


def test_ranks_are_recorded_where_missing_or_better(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("--record-ranks") == 1
    assert (
        shop.read_bytes()
        == SHOP.replace('"no synonyms"', '"no synonyms", "known_rank": 3')
        .replace('"known_rank": 4', '"known_rank": 2')
        .encode()
    )
    out = capsys.readouterr().out
    assert '  q2 "size chart": sizes in the top 1; known_rank 3\n' in out
    assert '": a above b; known_rank 2 instead of 4\n' in out
    # A worse run does not lower what is remembered.
    recorded = shop.read_bytes()
    Run.from_dict({**RUN, "q2": ["shoes", *"abcdef", "sizes"], "q4": ["b"]}).save("worse.run")
    assert run_command("--record-ranks", run="worse.run") == 1
    assert shop.read_bytes() == recorded
    out = capsys.readouterr().out
    assert "sizes was at 3 when it was marked, and is now at 8" in out
    assert "a was at 2 when it was marked, and is now not ranked" in out
    assert (
        "known_rank was not changed for q2, q4, where the known failure got worse; to accept that, "
        "change it in the file\n"
    ) in out


def test_both_at_once(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command("--remove-fixed", "--record-ranks") == 0
    assert (
        "shop.jsonl: removed known_failure from 1 expectation and wrote known_rank for 2 known "
        "failures. Review"
    ) in capsys.readouterr().out
    marks = [json.loads(line) for line in shop.read_text("utf-8").splitlines()[1:]]
    assert [mark["expect"][0].get("known_rank") for mark in marks] == [None, 3, None, 2]
    assert "known_failure" not in marks[0]["expect"][0]


def test_many_changes_are_counted(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = {"expect": [{"in_top": 1, "documents": ["d"], "known_failure": "x"}]}
    lines = [json.dumps({"query_id": f"q{place}", **entry}) for place in range(70)]
    shop.write_text("\n".join(lines), "utf-8")
    Run.from_dict({f"q{place}": ["d", "e"] for place in range(70)}).save("many.run")
    assert run_command("--remove-fixed", run="many.run") == 0
    assert capsys.readouterr().out.endswith("\n  and 20 more\n")
    assert "known_failure" not in shop.read_text("utf-8")


def test_violated_expectations_block(shop: Path) -> None:
    shop.write_text(SHOP.replace(', "known_failure": "no synonyms"', ""), "utf-8")
    assert run_command("--remove-fixed") == 1


def test_a_link_stays_a_link(shop: Path) -> None:
    shop.rename("real.jsonl")
    try:
        shop.symlink_to("real.jsonl")
    except OSError:
        pytest.skip("this system has no symbolic links")
    assert run_command("--remove-fixed") == 0
    assert shop.is_symlink()
    assert b"no stemming" not in Path("real.jsonl").read_bytes()


def test_the_only_configured_golden_set_is_the_default(shop: Path) -> None:
    Path("pytest.ini").write_text("[pytest]\nrankcheck_golden = shop.jsonl\n")
    assert main(["expectations", "new.run", "--remove-fixed"]) == 0
    assert b"no stemming" not in shop.read_bytes()


def test_mapped_ids_are_found_in_the_file(shop: Path) -> None:
    Path("pytest.ini").write_text("[pytest]\nrankcheck_doc_id = lower\n")
    shop.write_text(SHOP.replace('"policy"', '"POLICY"'), "utf-8")
    assert run_command("--remove-fixed") == 0
    assert '["POLICY"]}' in shop.read_text("utf-8")


@pytest.mark.parametrize(
    ("golden", "options", "message"),
    [
        ("web.jsonl", (), "golden set 'web' has no expectations; only JSON lines can hold them"),
        ("web.qrels", (), "golden set 'web' has no expectations; only JSON lines can hold them"),
        ("gone.jsonl", (), "gone.jsonl"),
        ("shop.jsonl", ("--depth", "0"), "give a whole number from 1 on"),
    ],
)
def test_other_files_are_refused(
    golden: str, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("web.qrels").write_text("q1 0 policy 1\n")
    assert run_command("--remove-fixed", *options, golden=golden) == 2
    assert message in capsys.readouterr().err


def test_a_run_of_other_queries_removes_nothing(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command("--remove-fixed", run="good.run") == 2
    assert "share no query" in capsys.readouterr().err
    assert shop.read_bytes() == SHOP.encode()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_that_cannot_be_written_is_an_error(shop: Path) -> None:
    shop.parent.chmod(0o555)
    try:
        assert run_command("--remove-fixed") == 2
    finally:
        shop.parent.chmod(0o755)
    assert shop.read_bytes() == SHOP.encode()


def test_a_failed_write_leaves_the_old_file(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(expectations_command, "write_whole", full)
    assert run_command("--remove-fixed") == 2
    assert (
        "shop.jsonl cannot be written: No space left on device; it is unchanged"
        in capsys.readouterr().err
    )
    assert shop.read_bytes() == SHOP.encode()


def test_a_file_that_changes_meanwhile_is_not_written(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checked = expectations_command.check_expectations

    def slow(*arguments: object) -> object:
        shop.write_text(SHOP.replace(',"known_failure":"no stemming"', ""), "utf-8")
        return checked(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(expectations_command, "check_expectations", slow)
    assert run_command("--remove-fixed") == 2
    assert "no such known failure for query 'q1'; was the file changed?" in capsys.readouterr().err
