"""Every grammar that configurations, commands and tests write in, on thousands of broken texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bounds import examples, loads_or_refuses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import HOSTILE_TEXTS, STEPS, Step, mutated_text

from pytest_rankcheck import Metric, perturbations
from pytest_rankcheck.document_ids import DocIdMap
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.gates.configured_gates import ConfiguredGates, gate_of
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.plugin.option_parsers import Given
from pytest_rankcheck.plugin.option_rows import OptionRow, option_rows
from pytest_rankcheck.plugin.option_table import Config

quick = settings(suppress_health_check=[HealthCheck.too_slow])


def parse_metric(text: str) -> None:
    metric = Metric.parse(text)
    assert Metric.parse(str(metric)) == metric


def parse_gate(text: str) -> None:
    gate = gate_of(text)
    assert gate_of(str(gate)) == gate


def perturb(text: str) -> None:
    for perturbation in perturbations().values():
        for changed in perturbation(text, seed=1):
            assert isinstance(changed, str)


def quote(text: str) -> None:
    quoted(text, 60).encode("utf-8")
    assert len(quoted(text, 60).splitlines()) <= 1


GRAMMARS: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "metric": (
        parse_metric,
        [
            "nDCG@10",
            "nDCG(gain=exponential, discount=power(0.5), judged_only=true)@10",
            "nDCG(dcg='exp-log2')@10",
            "nDCG(gain={0: 0, 1: 1, 2: 5})@5",
            "AP(rel=2)@100",
            "ERR(max=4)@20",
            "RBP(p=0.8)",
            "SessionRR(abandoned=zero)",
            "SetF(beta=2)",
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
    "scoped gate": (
        lambda text: ConfiguredGates.parse([text]).gate("web", Metric.parse("nDCG@10")),
        [
            "web nDCG@10: noninferior(margin=0.02)",
            "nDCG@10: tolerance(abs=0.01)",
            "web: tolerance()",
        ],
    ),
    "document ids": (
        lambda text: DocIdMap(text)("Doc-01#2 %20/x.html"),
        ["lower", "strip_zeros", "before:#", "after:/", "remove_prefix:doc_", "unquote", "nfc"],
    ),
    "linter": (
        lambda text: LintOptions.parse([text], ["small-slice"]),
        ["scale=0..3", "tolerance=0.02", "min_queries=30", "spread=0.1", "small-slice=ignore"],
    ),
    "perturbed query": (
        perturb,
        ["red shoes, size 42", "\u00dcber  die Br\u00fccke", "a b c d e f"],
    ),
    "quoted text": (quote, ["red shoes", "\u202egnp.exe", "a\nb"]),
}


@pytest.mark.parametrize("name", GRAMMARS)
@given(steps=STEPS, place=st.integers(0, 99))
@quick
def test_a_broken_text_is_read_or_refused(name: str, steps: list[Step], place: int) -> None:
    parse, texts = GRAMMARS[name]
    text = mutated_text(texts[place % len(texts)], steps)
    with loads_or_refuses():
        parse(text)


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_hostile_text_is_read_or_refused(name: str) -> None:
    parse, texts = GRAMMARS[name]
    for hostile in HOSTILE_TEXTS:
        for text in [hostile, *(text.replace("0.02", hostile) for text in texts)]:
            with loads_or_refuses():
                parse(text)


VALUES = {
    "string": "0.1",
    "int": "10",
    "paths": [Path("golden")],
    "linelist": ["nDCG@10: tolerance(abs=0.01)", "1=4", "first_rank=0", "query_id=keyword"],
    "args": ["nDCG@10"],
}


@pytest.mark.parametrize("name", option_rows(Config))
@given(steps=STEPS, place=st.integers(0, 99))
@settings(quick, max_examples=examples(2))
def test_a_broken_option_is_read_or_refused(name: str, steps: list[Step], place: int) -> None:
    row: OptionRow = option_rows(Config)[name]
    value: Any = VALUES[row.ini_type]
    if isinstance(value, list):
        value = [mutated_text(str(value[place % len(value)]), steps)]
    else:
        value = mutated_text(value, steps)
    with loads_or_refuses():
        row.parse(Given(f"rankcheck_{name}", value, Path.cwd()))
