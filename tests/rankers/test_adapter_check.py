"""The test kit for adapters: ours keep every rule, and each rule can be broken."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import GoldenSet, Query, RankerError, rankers
from pytest_rankcheck.rankers import Adapter, QueryAnswer, RankingTask, check_adapter
from pytest_rankcheck.rankers.adapter_choice import adapter_of
from pytest_rankcheck.rankers.adapter_protocol import OnAnswer
from tests import worker_rankers as workers

LETOR = (
    "1 qid:1 1:0.5 2:1 # a\n0 qid:1 3:2 # b\n1 qid:2 1:1 # c\n0 qid:2 2:1 # d\n1 qid:3 1:3 # e\n"
)


def search(text: str) -> list[str]:
    return [text, "other"]


async def search_async(text: str) -> list[str]:
    await asyncio.sleep(0)
    return [text, "other"]


def with_text(texts: list[str]) -> list[list[str]]:
    return [[text] for text in texts]


def lengths(text: str, documents: list[str]) -> list[float]:
    return [float(len(document) + index) for index, document in enumerate(documents)]


def vectors(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


@pytest.mark.parametrize(
    "adapter",
    [
        adapter_of(search),
        adapter_of(search_async),
        rankers.batch(with_text, size=3),
        rankers.scorer(lengths),
        rankers.embedder(vectors, {f"d{n}": "x" * n for n in range(5)}),
    ],
    ids=["callable", "async", "batch", "scorer", "embedder"],
)
def test_our_adapters_keep_every_rule(adapter: Adapter) -> None:
    report = check_adapter(adapter, executor=None).raise_if_broken()
    assert report.ok
    assert str(report).startswith(f"adapter '{adapter.name}' keeps all rules")


def test_an_adapter_is_tried_in_another_process() -> None:
    report = check_adapter(rankers.batch(with_text, size=3)).raise_if_broken()
    assert report["works_on_executors"].holds is True
    assert report["candidates_can_be_reordered"].holds is None
    assert {rule.rule for rule in report} >= {"has_a_name", "batches_do_not_matter"}


def test_a_model_keeps_every_rule_on_its_golden_set(tmp_path: Path) -> None:
    (tmp_path / "ltr.txt").write_text(LETOR)
    golden = GoldenSet.load(tmp_path / "ltr.txt", format="letor")
    report = check_adapter(rankers.model(workers.Linear()), golden, executor=None)
    report.raise_if_broken()
    assert report["candidates_can_be_reordered"].holds is True


Ask = Callable[[RankingTask, OnAnswer], None]


class Broken(Adapter):
    """An adapter that asks in one of the wrong ways below."""

    name = "broken"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        self._ask(task, on_answer)


def answer(query: Query, ranking: Any = None, seconds: float = 0.0) -> QueryAnswer:
    return QueryAnswer(query, [query.id] if ranking is None else ranking, seconds=seconds)


def leaves_one_out(task: RankingTask, on_answer: OnAnswer) -> None:
    for query in list(task.golden)[1:]:
        on_answer(answer(query))


def answers_twice(task: RankingTask, on_answer: OnAnswer) -> None:
    for query in task.golden:
        on_answer(answer(query))
        on_answer(answer(query))


def answers_others(task: RankingTask, on_answer: OnAnswer) -> None:
    for query in [*task.golden, Query("stranger")]:
        on_answer(answer(query))


def answers_with_sets(task: RankingTask, on_answer: OnAnswer) -> None:
    for query in task.golden:
        on_answer(answer(query, {"a", "b"}))


def measures_nothing(task: RankingTask, on_answer: OnAnswer) -> None:
    for query in task.golden:
        on_answer(answer(query, seconds=float("nan")))


def depends_on_the_order(task: RankingTask, on_answer: OnAnswer) -> None:
    for place, query in enumerate(task.golden):
        on_answer(answer(query, [f"d{place}"]))


def depends_on_the_others(task: RankingTask, on_answer: OnAnswer) -> None:
    for query in task.golden:
        on_answer(answer(query, [f"d{len(task.golden)}"]))


def needs_every_text(task: RankingTask, on_answer: OnAnswer) -> None:
    failure = RankerError("no text") if any(q.text is None for q in task.golden) else None
    for query in task.golden:
        on_answer(QueryAnswer(query, [query.id], failure, 0.0))


def catches_everything(task: RankingTask, on_answer: OnAnswer) -> None:
    for query in task.golden:
        try:
            on_answer(answer(query))
        except BaseException:
            continue


def drifting() -> Ask:
    numbers = count()

    def ask(task: RankingTask, on_answer: OnAnswer) -> None:
        number = next(numbers)
        for query in task.golden:
            on_answer(answer(query, [f"d{number}"]))

    return ask


def raises(task: RankingTask, on_answer: OnAnswer) -> None:
    raise OSError("no index")


@pytest.mark.parametrize(
    ("rule", "ask", "message"),
    [
        ("answers_each_query_once", leaves_one_out, "not answered: q0"),
        ("answers_each_query_once", answers_twice, "answered more than once: q0"),
        ("answers_each_query_once", answers_others, "answered but not asked: stranger"),
        ("answers_each_query_once", raises, "it raised OSError: no index"),
        ("answers_are_rankings", answers_with_sets, "query 'q0' failed: RunError: .* no order"),
        ("times_are_measured", measures_nothing, "missing or negative seconds for: q0"),
        ("repeats", drifting(), "7 queries are answered differently when asked again; 'q0': d1"),
        ("order_does_not_matter", depends_on_the_order, "differently in reverse order"),
        ("chunks_do_not_matter", depends_on_the_others, "differently in chunks of 1 query"),
        ("a_query_without_text_fails_alone", needs_every_text, "others failed too"),
        ("interrupts_pass", catches_everything, "but 7 answers still came"),
    ],
)
def test_each_rule_can_be_broken(rule: str, ask: Ask, message: str) -> None:
    report = check_adapter(Broken(ask), executor=None)
    assert not report.ok
    assert report[rule].holds is False
    with pytest.raises(AssertionError, match=message):
        report.raise_if_broken()


def test_an_adapter_without_a_name_is_reported() -> None:
    adapter = Broken(lambda task, on_answer: None)
    adapter.name = ""
    assert "set name in __init__" in check_adapter(adapter, executor=None)["has_a_name"].problem


def test_batches_and_candidates_that_matter_are_reported() -> None:
    class Sized(Broken):
        def with_size(self, size: int) -> Adapter:
            return Broken(depends_on_the_order)

        def with_candidates(self, order: Any) -> Adapter:
            return Broken(lambda task, on_answer: [on_answer(answer(q, [])) for q in task.golden])  # type: ignore[func-returns-value]

    def plain(task: RankingTask, on_answer: OnAnswer) -> None:
        for query in task.golden:
            on_answer(answer(query))

    report = check_adapter(Sized(plain), executor=None)
    assert {rule.rule for rule in report.broken} == {
        "batches_do_not_matter",
        "candidates_can_be_reordered",
    }


def test_an_adapter_that_cannot_be_sent_is_reported() -> None:
    class Local(Broken):
        lock = threading.Lock()

    report = check_adapter(adapter_of(lambda text: [text]))
    assert [rule.rule for rule in report.broken] == ["works_on_executors"]
    assert "cannot be sent" in report["works_on_executors"].problem


def test_anything_but_an_adapter_is_refused() -> None:
    with pytest.raises(RankerError, match=r"function is not an Adapter; subclass rankers\.Adapter"):
        check_adapter(search)
    with pytest.raises(RankerError, match="two queries"):
        check_adapter(adapter_of(search), workers.GOLDEN.subset(["q1"]))
