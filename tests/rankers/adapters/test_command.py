"""Programs as rankers: that answer, die, hang, answer late, twice, out of order, or nonsense."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_rankcheck import GoldenSet, MetricError, RankerError, assert_at_most, evaluate, rank
from pytest_rankcheck.rankers import command

GOLDEN = GoldenSet.from_dict(
    {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": "red shoes", "q2": 'größe\n"42"'},
    attributes={"q1": {"locale": "en"}, "q2": {"locale": "de"}},
)  # fmt: skip
START = """
import json, os, sys, time
def say(query_id, ranking=("d1", "d2"), **others):
    print(json.dumps({"query_id": query_id, "ranking": ranking, **others}), flush=True)
"""


def ranked(code: str, **options: object) -> dict[str, tuple[str, ...]]:
    run = rank(command([sys.executable, "-c", START + code]), GOLDEN, **options)  # type: ignore[arg-type]
    return {query_id: run[query_id] for query_id in run.query_ids}


BOTH = {"q1": ("d1", "d2"), "q2": ("d1", "d2")}


def test_a_program_reads_every_query_and_the_depth(tmp_path: Path) -> None:
    code = """
asked = [json.loads(line) for line in sys.stdin]
assert asked[1] == {"query_id": "q2", "query": 'größe\\n"42"', "depth": 7, "attributes": {"locale": "de"}}
for each in asked:
    say(each["query_id"], [sys.argv[1], each["attributes"]["locale"], os.getcwd()])
"""
    ranker = command([sys.executable, "-c", START + code, "top={depth}"], cwd=tmp_path)
    assert rank(ranker, GOLDEN, depth=7)["q1"] == ("top=7", "en", str(tmp_path))


@pytest.mark.parametrize(
    "code",
    [
        "say('q2'); say('q1')",
        "say('q1'); time.sleep(0.6); print(); say('q2')",
        "for line in sys.stdin: print(json.dumps({**json.loads(line), 'ranking': ['d1', 'd2']}))",
        "say('q1', [['d1', 2.5], ['d2', 1]]); say('q2', scores=[3, 2])",
        'say(\'q1\'); sys.stdout.write(\'{"query_id": "q2", "ranking": ["d1", "d2"]}\')',
        "say('q1'); say('q2'); os.system('sleep 9 &')",
        "say('q1'); say('q2'); sys.exit(1)",
        "print('loading', file=sys.stderr); sys.stderr.write('x' * 200_000); say('q1'); say('q2')",
    ],
    ids=[
        "out of order",
        "late",
        "buffered",
        "scored",
        "unfinished",
        "leaves a child",
        "exits",
        "chatty",
    ],
)
def test_a_program_that_answers(code: str) -> None:
    began = time.monotonic()
    assert ranked(code, timeout=20) == BOTH
    assert time.monotonic() - began < 8


def test_a_program_says_how_long_each_query_took() -> None:
    """Two queries of 0.25 s and 2 s, whatever the program itself takes."""
    code = "say('q2', seconds=2); say('q1', seconds=0.25)"
    run = rank(command([sys.executable, "-c", START + code]), GOLDEN)
    assert run.seconds == {"q1": 0.25, "q2": 2.0}
    evaluation = evaluate(run, GOLDEN)
    assert_at_most(evaluation, {"Seconds(q=0.5)": 0.25, "Seconds(q=0.95)": 2})
    with pytest.raises(AssertionError, match=r"Seconds\(q=0.95\) is 2.0000 .* at most 1.0000"):
        assert_at_most(evaluation, "Seconds(q=0.95)", 1)


def test_a_program_that_reports_some_times_only_has_no_quantile_of_them() -> None:
    code = "say('q1', seconds=0.25); say('q2')"
    evaluation = evaluate(rank(command([sys.executable, "-c", START + code]), GOLDEN), GOLDEN)
    with pytest.raises(MetricError, match=r'must write "seconds" in each answer'):
        evaluation.mean("Seconds(q=0.5)")


def test_more_queries_and_answers_than_a_pipe_holds() -> None:
    golden = GoldenSet.from_dict({f"q{n}": {"d": 1} for n in range(3000)})
    code = """
for line in sys.stdin:
    say(json.loads(line)["query_id"], [f"{n:0100}" for n in range(10)])
"""
    run = rank(command([sys.executable, "-c", START + code]), golden, timeout=60)
    assert len(run.query_ids) == 3000


def test_a_program_that_does_not_answer() -> None:
    for code, message in (
        (
            "say('q1'); print('no index\\x1b[2J', file=sys.stderr); sys.exit(3)",
            (
                r"failed on 1 of 2 queries, first on 'q2'.*exit code 3 and without an answer to "
                r"this query; its standard error ends with\n  no index\\x1b\[2J$"
            ),
        ),
        ("", "failed on 2 of 2 .*exit code 0 and without.*nothing to standard error\nalso failed"),
        ("os.kill(os.getpid(), 11)", "it ended with signal SIGSEGV"),
        ("say('q1'); say('q1')", "line 2 of its output answers query 'q1', a second time"),
        ("say('q3')", "line 1 of its output answers query 'q3', which is unknown"),
        ("print('Loading ...')", "line 1 of its output is 'Loading ...', not an answer such as"),
        ("print('[1]')", r"line 1 of its output is '\[1\]', not an answer"),
        ("print('[' * 100_000)", "line 1 of its output is"),
        ("sys.stdout.buffer.write(b'\\xff\\x00\\n')", "line 1 of its output is"),
        ("say('q1', None)", "line 1 of its output: valid JSON, but not of the form"),
        ("say('q1', ['d1', None])", "line 1 of its output: query 'q1': a document id is"),
        ("say('q1', seconds=-1)", 'line 1 of its output has "seconds": -1; give a number of at'),
        ("say('q1', seconds='3 ms')", 'line 1 of its output has "seconds": 3 ms; give a number'),
        ("say('q1', seconds=1e999)", 'line 1 of its output has "seconds": inf; give a number'),
        ("say('q1', scores=[1])", "line 1 of its output: query 'q1': \"scores\" must have one"),
    ):  # fmt: skip
        with pytest.raises(RankerError) as failure:
            ranked(code, timeout=20)
        assert re.search(message, str(failure.value), re.DOTALL)
        assert "\x1b" not in str(failure.value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("time.sleep(60)", "no answer within 0.5 s; make it flush its output"),
        ("say('q1'); time.sleep(60)", r"failed on 1 of 2 .*no answer within 0.5 s"),
        ("while True: print(' ', end='', flush=True); time.sleep(0.05)", "no answer within 0.5 s"),
        ("sys.stdout.write('x' * 2**25); time.sleep(60)", "line 1 of its output is 'xxx"),
    ],
)
def test_a_program_that_hangs_is_killed(code: str, message: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = f"pid = os.fork()\nopen({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
    with pytest.raises(RankerError, match=re.compile(message, re.DOTALL)):
        ranked(
            f"{child}if not pid: time.sleep(60)\n{code}", timeout=0.5 if "2**" not in code else 20
        )
    for pid in pids.read_text().split():
        assert is_gone(int(pid))


def is_gone(pid: int) -> bool:
    """Whether a process has ended, or has only to be reaped by the system, within 5 seconds."""
    for _ in range(50):
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        if state.stdout.strip()[:1] in ("", "Z"):
            return True
        time.sleep(0.1)
    return False


def test_an_interrupt_kills_the_program(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        f"open({str(pid)!r}, 'w').write(str(os.getpid())); os.kill(os.getppid(), 2); time.sleep(60)"
    )
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            ranked(code)
    finally:
        signal.signal(signal.SIGINT, before)
    assert is_gone(int(pid.read_text()))


def test_a_program_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "rank.sh"
    script.write_text("no interpreter\n")
    for program, message in (
        ("nosuch", "command 'nosuch' cannot be started in .*: .*No such file.*; give a program on"),
        ("rank.sh", "No such file or directory: 'rank.sh'; give .* as './rank'$"),
        ("./nosuch", "No such file or directory: './nosuch'"),
        ("./rank.sh", "Permission denied: './rank.sh'; give .* or an executable file"),
    ):
        with pytest.raises(RankerError, match=message):
            rank(command([program]), GOLDEN)
    script.chmod(0o755)
    with pytest.raises(RankerError, match="Exec format error"):
        rank(command(["./rank.sh"]), GOLDEN)
    with pytest.raises(RankerError, match=f"in {re.escape(str(tmp_path))}/gone: .*No such file"):
        rank(command(["./rank.sh"], cwd="gone"), GOLDEN)
    for wrong in ([], ["./rank", 5]):
        with pytest.raises(RankerError, match="give a program and its arguments as texts"):
            command(wrong)  # type: ignore[arg-type]
    with pytest.raises(RankerError, match="retries=2 has no effect on a program"):
        ranked("", retries=2)
