"""Every grammar that configurations, commands and tests write in, on thousands of broken texts."""

from collections.abc import Callable

import pytest
from bounds import few, loads_or_refuses
from hypothesis import given
from hypothesis import strategies as st
from mutations import HOSTILE_TEXTS, STEPS, Step, mutated_text

from pytest_rankcheck import Metric
from pytest_rankcheck.behaviour.changed_queries import BUILT_IN
from pytest_rankcheck.document_ids import DocIdMap
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.gates.configured_gates import gate_of


def parse_metric(text: str) -> None:
    metric = Metric.parse(text)
    assert Metric.parse(str(metric)) == metric


def parse_gate(text: str) -> None:
    gate = gate_of(text)
    assert gate_of(str(gate)) == gate


def perturb(text: str) -> None:
    for make in BUILT_IN.values():
        assert all(isinstance(changed, str) for changed in make(text))


def quote(text: str) -> None:
    quoted(text, 60).encode("utf-8")
    assert len(quoted(text, 60).splitlines()) <= 1


GRAMMARS: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "metric": (
        parse_metric,
        [
            "nDCG(gain=exponential, discount=power(0.5), judged_only=true)@10",
            "nDCG(gain={0: 0, 1: 1, 2: 5})@5",
            *("AP(rel=2)@100", "ERR(max=4)@20", "RBP(p=0.8)", "SessionRR(abandoned=zero)"),
        ],
    ),
    "gate": (
        parse_gate,
        [
            "tolerance(abs=0.01, rel=0.02, max_query_drop=0.5)",
            "significant(alpha=0.05, min_drop=0.01, min_queries=30)",
            "Gate.noninferior(margin=0.02, max_gap=0.1)",
        ],
    ),
    "document ids": (
        lambda text: DocIdMap(text)("Doc-01#2 %20/x.html"),
        ["lower", "strip_zeros", "before:#", "after:/", "remove_prefix:doc_", "unquote", "nfc"],
    ),
    "perturbed query": (perturb, ["red shoes, size 42", "\u00dcber  die Br\u00fccke"]),
    "quoted text": (quote, ["red shoes", "\u202egnp.exe", "a\nb"]),
}


@pytest.mark.parametrize("name", GRAMMARS)
@given(steps=STEPS, place=st.integers(0, 99))
@few()
def test_a_broken_text_is_read_or_refused(name: str, steps: list[Step], place: int) -> None:
    parse, texts = GRAMMARS[name]
    with loads_or_refuses():
        parse(mutated_text(texts[place % len(texts)], steps))


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_hostile_text_is_read_or_refused(name: str) -> None:
    parse, texts = GRAMMARS[name]
    for hostile in HOSTILE_TEXTS:
        for text in [hostile, *(text.replace("0.02", hostile) for text in texts)]:
            with loads_or_refuses(text):
                parse(text)
