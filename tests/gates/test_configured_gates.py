"""The lines of ``rankcheck_gate``: one grammar, whatever golden sets and metrics are called."""

import pytest

from pytest_rankcheck import ConfigurationError, Metric, MetricError
from pytest_rankcheck.baselines.change import is_looser
from pytest_rankcheck.gates.configured_gates import ConfiguredGates, gate_of
from pytest_rankcheck.metrics.metric_registry import definitions

AP, METRIC, RR = map(Metric.parse, ("AP", "nDCG@10", "RR"))
BARE = "tolerance(abs=0, rel=0)"


def test_the_most_specific_rule_wins_and_ties_go_to_the_last() -> None:
    gates = ConfiguredGates.parse(
        ["significant(min_drop=0.01)", "nDCG@10: noninferior(margin=0.02)", "web: tolerance(abs=0.1)",
         "web ndcg@10: noninferior(margin=0.03, alpha=0.1)", "significant"]
    )  # fmt: skip
    assert str(gates.gate("other", RR)) == "significant(alpha=0.05, min_drop=0)"
    assert str(gates.gate("other", METRIC)) == "noninferior(margin=0.02, alpha=0.05)"
    assert str(gates.gate("web", RR)) == "tolerance(abs=0.1, rel=0)"
    assert str(gates.gate("web", METRIC)) == "noninferior(margin=0.03, alpha=0.1)"
    assert ConfiguredGates().gate("web", RR) is None


NAMES = sorted({name for each in definitions().values() for name in (each.name, *each.aliases)})


def scope_of(line: str, *golden_names: str) -> tuple[str | None, str | None]:
    (gate,) = ConfiguredGates.parse([f"{line}: tolerance"], golden_names).gates
    return gate.golden_name, gate.metric and str(gate.metric)


@pytest.mark.parametrize("name", [*NAMES, "map", "ndcg@10", "AP(rel=2)@100", "nDCG(gain={1: 2})@5"])
def test_a_golden_set_may_have_the_name_of_a_metric(name: str) -> None:
    try:
        metric = str(Metric.parse(name))
    except MetricError:  # it needs a cutoff
        assert scope_of(name, name) == (name, None)
        return
    assert scope_of(name) == scope_of(f"* {name}", name) == (None, metric)
    assert scope_of(f"{name} *", name) == (name, None)
    assert scope_of(f"{name} RR", name) == (name, "RR")
    assert scope_of(f"web {name}", name) == ("web", metric)
    both = f"'{name}' is a golden set and the metric {metric}; write '{name} *: gate' for the"
    with pytest.raises(ConfigurationError) as at_start:
        scope_of(name, name.lower())
    assert both.lower() in str(at_start.value).lower()
    with pytest.raises(ConfigurationError) as of_a_set_of_the_tests_own:
        ConfiguredGates.parse([f"{name}: tolerance"]).gate(name, RR)
    assert both in str(of_a_set_of_the_tests_own.value)
    assert scope_of(f"{name}@b", f"{name}@b") == (f"{name}@b", None)


@pytest.mark.parametrize(
    ("line", "scope"),
    [
        ("", (None, None)),
        ("*", (None, None)),
        ("* *", (None, None)),
        ("a:b RR", ("a:b", "RR")),
        ("my own set RR", ("my own set", "RR")),
        ("my own set *", ("my own set", None)),
        ("web nDCG(gain={1: 2})@5", ("web", str(Metric.parse("nDCG(gain={1: 2})@5")))),
    ],
)
def test_a_line_is_split_at_its_last_colon(line: str, scope: tuple[str | None, str | None]) -> None:
    text = f"{line}: Gate.tolerance(abs=0.1)"
    (gate,) = ConfiguredGates.parse([text.removeprefix(": ")]).gates
    assert (gate.golden_name, gate.metric and str(gate.metric)) == scope


def test_a_malformed_line_is_refused() -> None:
    for line, message in (
        ("a b: tolerance", "unknown metric 'b'"),
        ("web nDGC@10: tolerance", "did you mean 'nDCG'"),
        ("RR web: tolerance", "unknown metric 'web'.*; write 'metric: gate', 'set: gate' or 'set"),
        ("nDCG@: tolerance", "'nDCG@' is not a metric name"),
        ("RR: tolerance(", r"'tolerance\(' is not a gate; write name"),
        ("RR:", "'' is not a gate"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            ConfiguredGates.parse([line])


@pytest.mark.parametrize("word", ["'pass'", "fail"])
def test_how_an_inconclusive_verdict_counts_is_in_the_text_of_a_gate(word: str) -> None:
    text = f"noninferior(margin=0.02, alpha=0.05, inconclusive={word})"
    assert gate_of(text).text == text
    usual = "noninferior(margin=0.02, alpha=0.05)"
    assert gate_of("noninferior(margin=0.02, inconclusive=warn)").text == usual
    assert is_looser(text, usual) == (word == "fail")
    assert is_looser(usual, text) == (word == "'pass'")


def test_another_word_for_an_inconclusive_verdict_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="inconclusive=maybe is invalid; give pass, warn"):
        gate_of("noninferior(margin=0.02, inconclusive=maybe)")
