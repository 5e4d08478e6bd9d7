"""Failure texts are short: at most 40 lines, and the documents of a query once in a test session."""

from dataclasses import replace

import pytest

from pytest_rankcheck import (
    Expectation,
    Gate,
    GoldenSet,
    Metric,
    Run,
    assert_at_least,
    assert_not_regressed,
    evaluate,
)
from pytest_rankcheck.explanation.explanation import (
    Answer,
    AnsweredQuery,
    ExplainedQuery,
    Explanation,
    InCommon,
    RankedDocument,
    TakenOver,
)
from pytest_rankcheck.remedies import Remedy
from pytest_rankcheck.reports.findings import GateFinding, Topic
from pytest_rankcheck.reports.ledger import PrintedDocuments, collecting, packed
from pytest_rankcheck.reports.text.failure_text import failure_lines
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes
from pytest_rankcheck.reports.text.wording import query_in

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": 3, f"e{n}": 1} for n in range(40)},
    attributes={f"q{n}": {"topic": f"t{n % 20}"} for n in range(40)},
)
GOOD = evaluate(Run.from_dict({f"q{n}": [f"d{n}", f"e{n}", "x"] for n in range(40)}), GOLDEN)

EXPECTED = Expectation("q0", "in_top", ("d0",), k=1)


def ranked(empty: int) -> Run:
    """Return the reversed rankings; some are empty."""
    reverse = {f"q{n}": ["x", f"e{n}", f"d{n}"] for n in range(empty, 40)}
    return Run.from_dict({**{f"q{n}": [] for n in range(empty)}, **reverse})


BAD = evaluate(ranked(0), GOLDEN)


def floor_text() -> str:
    with pytest.raises(AssertionError) as failure:
        assert_at_least(BAD, {"RR": 0.9, "nDCG@3": 0.9})
    return str(failure.value)


def fall_text(*metrics: str) -> str:
    with pytest.raises(AssertionError) as failure:
        assert_not_regressed(BAD, GOOD, metrics or "RR", by="topic")
    return str(failure.value)


def test_a_failure_has_at_most_40_lines() -> None:
    metrics = ("RR", "nDCG@3", "P@1", "AP", "P@2", "RBP", "nDCG@2", "ERR")
    lines = fall_text(*metrics).splitlines()
    assert 20 < len(lines) <= 40
    assert lines[0].startswith("8 of 8 metrics regressed on golden set")
    assert [line.split()[0] for line in lines[1:6]] == ["RR", "nDCG@3", "P@1", "AP", "P@2"]
    assert lines[6].startswith("  and 3 more metrics: ")
    assert "  and 16 more slices" in lines
    assert not any(line.endswith(("most", "first")) for line in lines[-1:]), "an empty heading"


def test_most_is_said_of_a_slice_that_fell_more_than_others_in_each_metric() -> None:
    golden = GoldenSet.from_dict(
        {f"q{n}": {"d": 1} for n in range(80)},
        attributes={f"q{n}": {"topic": "ab"[n % 2]} for n in range(80)},
    )
    then = evaluate(Run.from_dict({f"q{n}": ["d", "x", "y"] for n in range(80)}), golden)
    lost, second = [], ["x", "d", "y"]

    def said(answers: dict[int, list[str]]) -> bool:
        run = {f"q{n}": answers.get(n, ["d", "x", "y"]) for n in range(80)}
        with pytest.raises(AssertionError) as failure:
            assert_not_regressed(
                evaluate(Run.from_dict(run), golden), then, ["RR", "P@1"], by="topic"
            )
        return ", most in topic=" in str(failure.value).splitlines()[0]

    assert said({0: lost, 2: lost, 1: second})
    assert not said({0: lost, 2: lost, 1: second, 3: second, 5: second})  # b in P@1
    assert not said({0: lost, 1: lost})


def test_queries_and_documents_are_counted_where_the_metrics_fell() -> None:
    """In a slice if the failure is about one; several metrics that fell elsewhere: everywhere."""
    golden = GoldenSet.from_dict(
        {f"q{n}": {"d": 1} for n in range(80)},
        attributes={f"q{n}": {"half": "ab"[n // 40]} for n in range(80)},
    )
    first, second = ["d", "x", "y"], ["x", "d", "y"]
    then = [first] * 40 + [second] * 40
    now = [second] * 10 + [first] * 30 + [["x", "y", "d"]] * 5 + [first] * 35  # b is better
    before, after = (
        evaluate(Run.from_dict({f"q{n}": docs for n, docs in enumerate(side)}), golden)
        for side in (then, now)
    )

    def text_of(*metrics: str) -> str:
        with pytest.raises(AssertionError) as failure:
            assert_not_regressed(after, before, metrics, by="half", gate=Gate.tolerance(abs=0.02))
        return str(failure.value)

    assert "10 queries worse, 0 better, 30 equal; 10 relevant documents left the top 1" in text_of(
        "P@1"
    )
    assert "the queries of half=a that fell most, of 10\n" in text_of("RR")
    assert "the queries of half=a that fell most, of 10\n" in text_of("RR", "P@1")
    assert "the queries that fell most, of 15\n" in text_of("RR", "P@2"), "P@2 fell everywhere"
    with pytest.raises(AssertionError, match="the queries of half=a that miss the bound most, of"):
        assert_at_least(after, {"RR": 0.89, "P@1": 0.78}, by="half")


def test_a_failure_with_everything_has_40_lines_at_most_and_all_with_v() -> None:
    document = RankedDocument("d" * 60, "t" * 40, 1.0, 2, 1)
    query = ExplainedQuery(
        "q", "text", {"RR": (1.0, 0.5), "AP": (1.0, 0.5)}, [document] * 7, ("d",)
    )
    with collecting(detail=True) as ledger, pytest.raises(AssertionError):
        assert_not_regressed(BAD, GOOD, ["RR", "nDCG@3", "P@1", "AP", "P@2", "RBP"], by="topic")
    (known,) = (each.failure for each in ledger if isinstance(each, GateFinding) and each.failure)
    causes = tuple(f"31 of 40 contain w{n}" for n in range(6))
    explanation = replace(
        known,
        worst=(query,) * 9,
        in_common=InCommon(Metric.parse("RR"), causes, 40),
        taken_over=tuple(TakenOver(f"d{n}", None, 10, 0, 9) for n in range(3)),
        caveats=("caveat",) * 4,
        remarks=tuple(f"remark {n}" for n in range(9)),
        remedies=(Remedy("to approve", "pytest"),) * 2,
    )
    lines = failure_lines(explanation)
    assert 35 < len(lines) <= 40, "\n".join(lines)
    assert [line for line in lines if "remark" in line] == [
        *("  remark 0", "  remark 1", "  remark 7", "  remark 8")
    ]
    assert "  5 more lines: -v" in lines
    in_full = failure_lines(explanation, in_full=True)
    assert sum("remark" in line for line in in_full) == 9


def test_what_a_worker_sends_of_a_failure_is_as_small_for_many_queries() -> None:
    """Nothing of it grows with the queries: neither values, nor places, nor the ids of causes."""
    count = 3000
    golden = GoldenSet.from_dict(
        {f"q{n}": {f"d{n}": 1} for n in range(count)},
        queries={f"q{n}": "refund policy" if n % 2 else "size chart" for n in range(count)},
        attributes={f"q{n}": {"locale": "de" if n % 2 else "en"} for n in range(count)},
    )
    best = {f"q{n}": [f"d{n}"] for n in range(count)}
    worse = {query: ["x"] if int(query[1:]) % 2 else docs for query, docs in best.items()}
    good, now = (evaluate(Run.from_dict(run), golden) for run in (best, worse))
    for fail in (
        lambda: assert_not_regressed(now, good, ["RR", "AP"], gate=Gate.significant(), by="locale"),
        lambda: assert_at_least(now, {"RR": 0.9}, by="locale"),
    ):
        with collecting(detail=True, queries=False) as ledger, pytest.raises(AssertionError):
            fail()
        gates = [each for each in ledger if isinstance(each, GateFinding)]
        assert any(each.failure for each in gates)
        assert len(packed(gates)) < 30_000


def test_a_check_with_everything_has_40_lines_at_most_and_all_with_v() -> None:
    answer = Answer("as it is", ("d" * 60,) * 5, 3, 9)
    query = AnsweredQuery(
        id="q", text="text " * 40, becomes="other " * 40, answers=(answer,) * 2, titles={}
    )
    explanation = Explanation(
        headline="what failed",
        fallen=90,
        facts=tuple(f"fact {n}" for n in range(30)),
        answered=(query,) * 9,
        others=("q10", "q11"),
        remarks=tuple(f"remark {n}" for n in range(30)),
        to_fix="think",
        remedies=(Remedy("to approve", "pytest"),) * 2,
    )
    lines = failure_lines(explanation)
    assert len(lines) <= 40, "\n".join(lines)
    assert lines[-3:] == ["  to fix: think", *["  to approve: pytest"] * 2]
    assert sum(line.startswith("    and ") for line in lines) == 1
    without = failure_lines(replace(explanation, remarks=(), facts=("fact",)))
    assert 30 < len(without) <= 40
    assert sum(line.startswith("    q") for line in without) == 3
    assert "    and q, q, q, q, q and 82 more" in without
    in_full = failure_lines(explanation, in_full=True)
    assert sum(line.startswith("    q") for line in in_full) == 9
    assert "    and q10, q11 and 79 more" in in_full
    assert {f"  fact {n}" for n in range(30)} < {*in_full}


def test_the_documents_of_a_query_are_in_one_text_of_a_test_session() -> None:
    printed = PrintedDocuments()

    def text_in(test: str, *, has_failed: bool = True) -> str:
        with collecting(printed=printed):
            text = floor_text()
        if has_failed:
            printed.settle(test)
        return text

    first = text_in("test_a", has_failed=False)  # the test has caught it
    assert first.count("d0 (grade 3) at 3") == 1  # also of two metrics
    assert text_in("test_a") == first
    second = text_in("test_b")
    assert "grade" not in second
    assert second.count("\n    documents: see test_a\n") == 1
    with collecting(printed=printed):
        assert fall_text().count("    documents: see test_a") == 1
    del printed.tests[next(iter(printed.tests))]
    with collecting(printed=printed):
        assert floor_text().count("      documents: see test_a") == 3
        assert floor_text().count("      d0 (grade 3) at 3") == 1
    with collecting(printed=PrintedDocuments()):
        assert floor_text() == first


def test_the_documents_that_an_empty_answer_lacks_are_in_one_text_too() -> None:
    printed, empty = PrintedDocuments(), evaluate(ranked(39), GOLDEN)
    texts = []
    for test in "ab":
        with collecting(printed=printed), pytest.raises(AssertionError) as failure:
            assert_at_least(empty, "RR", 0.9)
        printed.settle(test)
        texts.append(str(failure.value))
    assert "      d0 (grade 3) not ranked" in texts[0]
    assert "\n    documents: see a\n    q0   0.000\n    q1   0.000\n" in texts[1]


@pytest.mark.parametrize(("empty", "is_noted"), [(0, False), (1, False), (2, True), (39, True)])
def test_empty_answers_are_counted_from_5_percent_on(empty: int, is_noted: bool) -> None:
    notes = evaluation_notes(evaluate(ranked(empty), GOLDEN))
    noted = [note.text for note in notes if note.topic is Topic.MISLEADING]
    words = f"{empty} of 40 queries have an empty answer: q0"
    assert any(words in text for text in noted) == is_noted


def test_a_query_whose_id_is_its_text_says_it_once() -> None:
    """As in cases without ids."""
    golden = GoldenSet.from_dict({"red shoes": {"a": 1}}, {"red shoes": "red shoes"})
    good, bad = (evaluate(Run.from_dict({"red shoes": [doc]}), golden) for doc in "ab")
    with pytest.raises(AssertionError) as failure:
        assert_not_regressed(bad, good, "RR")
    assert "red shoes   1.000 -> 0.000" in str(failure.value)
    assert query_in(golden, "red shoes") == "red shoes"
