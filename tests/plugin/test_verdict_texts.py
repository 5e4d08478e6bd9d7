"""What explains a verdict: queries, documents, slices, judgments and power, in every output."""

import html
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gated_test import MRR, Assertion, GatedTest
from project import Project

from pytest_rankcheck import (
    ConfigurationError,
    Gate,
    assert_at_least,
    assert_at_most,
    assert_ndcg_at_least,
    assert_not_regressed,
)
from pytest_rankcheck.baselines.register import Defaults
from pytest_rankcheck.reports.findings import Topic
from pytest_rankcheck.reports.text.summary_table import summary_lines

HALF_SECOND = dict.fromkeys(range(40), 2)
"""RR falls to 0.75, P@1 to 0.5, R@3 stays at 1."""


@pytest.fixture
def gated(tmp_path: Path) -> GatedTest:
    return GatedTest(tmp_path)


def gate(metric: str | list[str], gate: Gate, **options: Any) -> Assertion:
    return partial(assert_not_regressed, metric=metric, gate=gate, **options)


def unbound(assertion: Any, *arguments: Any, **options: Any) -> Assertion:
    """Return an assertion that needs no baseline."""
    return lambda evaluation, baseline: assertion(evaluation, *arguments, **options)


def locales(gated: GatedTest, locales: list[str]) -> None:
    lines = Project.queries(len(locales))
    gated.golden([{**line, "locale": name} for line, name in zip(lines, locales, strict=True)])


def check(text: str, *expected: str) -> None:
    for each in expected:
        assert each in text, text


# --- slices --------------------------------------------------------------------------------------


def test_a_collapsed_slice_is_reported_first(gated: GatedTest) -> None:
    gated.assertions = (gate("RR", Gate.tolerance(abs=0.02), by="locale"),)
    gated.rank(HALF_SECOND)
    gated.update()
    gated.rank(dict.fromkeys(range(60, 80), 2))  # English wins, German loses
    check(
        gated.run().failure,
        "RR regressed in locale=de of golden set 'web' (40 queries): 1.0000 -> 0.7500, -0.2500",
        "20 queries worse, 0 better, 20 equal",
        "all 80 queries: 0.7500 -> 0.8750, +0.1250",
        "locale=de (40 queries, regressed)   1.0000 -> 0.7500\n",
        "locale=en (40 queries)   0.5000 -> 1.0000\n",
    )


def test_small_slices_are_named_and_gated_by_statistics_only(gated: GatedTest) -> None:
    locales(gated, ["de"] * 16 + ["en"] * 17 + ["fr"] * 17)
    floor = unbound(assert_at_least, "RR", 0.15, by="locale")
    gated.assertions = (gate("RR", Gate.tolerance(abs=0.4), by="locale"), floor)
    gated.update()
    for name, text in gated.run().outputs.items():
        assert "0 of 3 slices gated; not gated: locale=de (16 queries), locale=en (17" in text, name
        assert "warning: an assertion names slices, but gates none of them" in text, name
    gated.rank(dict.fromkeys(range(16), 6))
    for name, text in gated.run().outputs.items():
        assert "slices that are not gated, but fell by more than chance" in text, name
        assert "in locale=de (16 queries): 1.0000 -> 0.1667, p < 0.0001" in html.unescape(text), (
            name
        )
    for other in (Gate.significant(), Gate.noninferior(margin=0.4)):
        gated.assertions = (gate("RR", other, by="locale"),)
        check(gated.run().failure, "(16 queries, regressed)   1.0000 -> 0.1667")
    gated.assertions = (gate("RR", Gate.tolerance(abs=0.2), by="locale"),)
    check(gated.run().failure, "(16 queries, too few to gate)   1.0000 -> 0.1667")


def test_a_slice_in_which_too_few_queries_changed_has_passed_untested(gated: GatedTest) -> None:
    gated.assertions = (gate("RR", Gate.significant(), by="locale"),)
    gated.update()
    gated.rank({0: 2, 1: 2, 2: 2})
    outcome = gated.run()
    report = json.loads(outcome.outputs["json"])
    (note,) = (each for each in report["notes"] if each["topic"] == "untested-slices")
    assert "locale=en: with 3 changed queries the smallest possible p is 0.125" in note["text"]
    assert not Topic.UNTESTED_SLICES.needs_action
    assert not any("slices gated" in each["text"] for each in report["notes"])
    gated.rank(dict.fromkeys(range(12), 2))
    check(gated.run().failure, "locale=en (40 queries, regressed)   1.0000 -> 0.8500")


def test_configured_slices_gate_tests_without_slices(gated: GatedTest) -> None:
    gated.defaults = Defaults(slices=("locale", "device"))
    gated.assertions = (gate("RR", Gate.tolerance(abs=0.3)),)
    gated.update()
    assert gated.record["slices"] == {"locale": {"de": 40, "en": 40}}
    gated.rank(HALF_SECOND)  # en falls by 0.5, all by 0.25
    check(gated.run().failure, "RR regressed in locale=en of golden set 'web' (40 queries)")
    gated.assertions = (gate("RR", Gate.tolerance(abs=0.3), by=()),)
    check(gated.run().failure, "RR regressed in locale=en")  # the slices of the record decide
    gated.rank({})
    outcome = gated.run()
    assert outcome.passed
    check(outcome.text, "golden set 'web' has no attribute 'device', which rankcheck_slices names")


def test_too_large_a_gap_between_slices_blocks_without_a_fall(gated: GatedTest) -> None:
    gated.rank(HALF_SECOND)
    gated.assertions = (gate("RR", Gate.tolerance(abs=0.5, max_gap=0.499), by="locale"),)
    gated.run(update=True)
    apart = "RR of locale=en and locale=de is 0.5000 apart (0.5000 in the baseline), allowed "
    check(gated.run().failure, f"{apart}0.4990")
    gated.assertions = (gate("RR", Gate.tolerance(abs=0.5, max_gap=0.5), by="locale"),)
    assert not gated.run().passed, "the recorded gate decides, too"
    assert gated.run(approve="the gap is known").passed
    assert gated.run().passed


@pytest.mark.parametrize(
    "gate_of_it",
    [
        Gate.significant(),
        Gate.tolerance(abs=0.1),
        Gate.noninferior(margin=0.02),  # inconclusive, which a note of its own explains
    ],
)
def test_a_fall_that_passes_names_the_queries_that_fell_most(
    gated: GatedTest, gate_of_it: Gate
) -> None:
    gated.assertions = (gate("RR", gate_of_it),)
    gated.update()
    heading = "falls that passed, and the queries that fell most"
    assert heading not in gated.run().text
    gated.rank({1: 2, 2: 9, 3: 3, 4: 2})
    said = (
        "test_mrr: RR on 'web': 1.0000 -> 0.9681, -0.0319; "
        'q002 "query 2", q003 "query 3", q001 "query 1" and 1 more fell'
    )
    outcome = gated.run()
    assert outcome.passed
    for name, text in outcome.outputs.items():
        assert said in html.unescape(text).replace('\\"', '"'), name
        assert heading in text or name == "json", name
    short = [line.text for line in summary_lines(outcome.findings, 200, most=3)]
    assert sum(line.startswith(heading) for line in short) == 1, "without -v, it has one line"
    gated.rank(dict.fromkeys(range(60), 9))
    assert heading not in gated.run().text, "what fails says so itself"


# --- queries and documents -----------------------------------------------------------------------


def test_new_unjudged_documents_are_counted(gated: GatedTest) -> None:
    gated.update()
    gated.search = lambda text: ["never seen", "nor this", f"doc of {text}"]
    check(
        gated.run().failure,
        "never seen (unjudged)  not kept -> 1",
        "160 new entries in the top 10 are unjudged: if all had grade 2, RR would differ by +0.0",
    )


def test_every_report_bounds_what_missing_judgments_hide(gated: GatedTest) -> None:
    gated.assertions = (gate("P@2", Gate.tolerance(abs=0.001)),)
    gated.search = lambda text: [f"doc of {text}", "filler-0"]
    gated.update()
    # P@2 falls from 1/2 to 0 in one query, and would be 1 if both new documents were relevant.
    gated.search = lambda text: (
        ["new", "newer"] if text == "query 3" else [f"doc of {text}", "filler-0"]
    )
    gated.evidence = True
    outputs = gated.run().outputs
    for name, text in outputs.items():
        assert "2 new entries in the top 2 are unjudged: if all had grade 2, " in text, name
        assert "P@2 would differ by +0.0063" in text, name
    (found,) = json.loads(outputs["json"])["gates"]
    assert found["unjudged"]["if_relevant"] == pytest.approx(1 / 160)


def test_bounds_name_slices_queries_and_where_the_relevant_documents_are(gated: GatedTest) -> None:
    gated.rank(dict.fromkeys(range(20), 13))
    for assertion, expected in (
        (
            unbound(assert_ndcg_at_least, 0.9, k=10, by="locale"),
            [
                "nDCG@10 is 0.7500 on golden set 'web' (80 queries); it must be at least 0.9000",
                "locale=de (40 queries)   1.0000",
                "locale=en (40 queries, beyond the bound)   0.5000",
                'q000 "query 0"   0.000',
                "doc of query 0 (grade 2) at 13      filler-0 (grade 0) at 1",
            ],
        ),
        (
            unbound(assert_at_most, "P@5", 0.1),
            ["P@5 is 0.1500 on golden set 'web' (80 queries); it must be at most 0.1000"],
        ),
        (
            unbound(assert_at_least, "RR", 0.9, confidence=0.95),
            ["RR is 0.7692 (lower 95% bound 0.6", "at least 0.9000 with 95% confidence"],
        ),
    ):
        gated.assertions = (assertion,)
        check(gated.run().failure, *expected)


# --- evidence ------------------------------------------------------------------------------------


def test_a_statistical_gate_passes_noise_and_shows_its_evidence(gated: GatedTest) -> None:
    gated.assertions = (gate("RR", Gate.significant(), by="locale"),)
    gated.update()
    gated.rank({1: 2, 50: 2})
    assert gated.run().passed
    gated.rank(dict.fromkeys(range(12), 3))
    for words in ("interval", "Holm", "power", "one-sided"):
        assert words not in gated.run().failure
    gated.evidence = True
    check(
        gated.run().failure,
        "RR regressed ",
        "12 queries worse, 0 better, 68 equal",
        "95% interval of the difference [-0.",
        "p = 0.0001 (paired sign-flip test)",  # mid-p: 2^-13
        "decided by significant(alpha=0.05, min_drop=0)",
        "(Holm, 2 decisions)",  # no German query changed
        "with 80 queries, power is 70% to 80% for a fall of 0.",  # one size of change
        "(one-sided t-test, alpha 0.05)",
    )


def test_a_gate_that_could_not_have_failed_says_so_in_every_output(gated: GatedTest) -> None:
    gated.assertions = (gate("RR", Gate.significant()),)
    gated.update()
    gated.rank(dict.fromkeys((0, 1, 20), 9))
    for name, text in gated.run().outputs.items():
        assert "warning: gates that could not have failed" in text, name
        assert (
            "decides nothing: with 3 changed queries the smallest possible p is 0.125, above alpha"
        ) in text, name


def test_a_gate_that_needs_noise_says_how_to_measure_it_and_is_not_recorded_without(
    gated: GatedTest,
) -> None:
    gated.assertions = (gate("RR", Gate.tolerance(noise=3)),)
    says = r"needs to know how much (.|\n)* --rankcheck-replicates 5"
    for update in (False, True):
        with pytest.raises(ConfigurationError, match=says):
            gated.run(update=update)
    assert not gated.path.exists()


# --- the table -----------------------------------------------------------------------------------


def test_better_and_lower_are_said_of_the_number_in_the_row(gated: GatedTest) -> None:
    """The first half is English. An update raises nothing if anything is lower."""
    by_locale = gate("RR", Gate.tolerance(abs=0.02), by="locale")
    gated.assertions = (by_locale, gate("P@1", Gate.tolerance(abs=0.05)))
    for before, now, expected in (
        ({0: 2}, {}, ["passed, better", "passed", "passed, better", "passed, better"]),
        ({0: 2, 1: 2}, {50: 2}, ["passed", "passed, lower", "passed", "passed"]),
        ({}, {0: 2}, ["passed, lower", "passed", "passed, lower", "passed, lower"]),
        ({}, {0: 2, 1: 2}, ["passed, lower", "passed", "FAILED: regressed", "not reached"]),
    ):
        gated.path.unlink(missing_ok=True)
        gated.rank(before)
        gated.update()
        gated.rank(now)
        rows = [line for line in gated.run().text.splitlines() if line.startswith("web ")]
        assert [" ".join(row.split()).split(maxsplit=5)[5] for row in rows] == expected


THREE = tuple(partial(assert_not_regressed, metric=metric) for metric in ("nDCG@10", "RR", "R@3"))


def test_a_gate_that_was_not_reached_shows_its_recorded_value(gated: GatedTest) -> None:
    """A test stops at its first failing assertion."""
    gated.assertions = THREE
    gated.update()
    gated.rank(HALF_SECOND)
    outcome = gated.run()
    assert outcome.table["nDCG@10"].endswith("FAILED: regressed")
    assert outcome.table["RR"] == "web RR 1.0000 0.7500 -0.2500 not reached"
    assert outcome.table["R@3"] == "web R@3 1.0000 1.0000 +0.0000 not reached"
    outputs = outcome.outputs
    gates = {found["metric"]: found for found in json.loads(outputs["json"])["gates"]}
    reached = {metric: found["reached"] for metric, found in gates.items()}
    assert reached == {"nDCG@10": True, "RR": False, "R@3": False}
    assert (gates["RR"]["baseline"], gates["RR"]["now"]) == (1.0, 0.75)
    assert gates["RR"]["verdict"] == gates["RR"]["outcome"] == "not reached"
    assert gates["RR"]["gate"] == "tolerance(abs=0, rel=0)"
    check(
        outputs["markdown"],
        "Ranking quality: 1 of 1 gate failed, 2 not reached",
        "| – | RR | web | 1.0000 | 0.7500 | -0.2500 | not reached | tests/test_ranking.py::test_mrr |",
    )
    check(outputs["html"], "1 of 1 gate failed, 2 not reached", "– not reached")


def test_one_baseline_is_not_used_for_two_evaluations(gated: GatedTest) -> None:
    gated.assertions = (MRR, lambda _, baseline: MRR(gated.evaluation(), baseline))
    assert "compares two evaluations with one baseline" in gated.run(update=True).failure
    assert not gated.path.exists()
