"""What a gate does not decide is said in every output: small slices, and tests that cannot fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

TEST = """
from pytest_rankcheck import Gate, assert_at_least, assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", gate=GATE, by="locale")
    assert_at_least(evaluation, "RR", 0.5, by="locale")
"""
LOCALES = ["de"] * 16 + ["en"] * 17 + ["fr"] * 17
COLLAPSED = dict.fromkeys(range(16), 6)
"""All German queries fall from rank 1 to rank 6."""


@pytest.fixture
def small(project: Project) -> Project:
    """50 queries in slices of 16, 17 and 17."""
    lines: list[dict[str, Any]] = project.queries(50)
    for line, locale in zip(lines, LOCALES, strict=True):
        line["locale"] = locale
    project.golden(lines)
    return project


def gated(project: Project, gate: str) -> None:
    project.test(TEST.replace("GATE", gate))


def outputs(project: Project, *arguments: str) -> dict[str, str]:
    """Return what a run shows in the terminal, Markdown, HTML and JSON."""
    files = {name: project.path / f"report.{name}" for name in ("json", "markdown", "html")}
    result = project.run(*arguments, *(f"--rankcheck-{n}={path}" for n, path in files.items()))
    texts = {name: path.read_text("utf-8") for name, path in files.items()}
    # Markdown escapes punctuation.
    return {**texts, "markdown": texts["markdown"].replace("\\", ""), "terminal": text_of(result)}


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_slices_that_a_tolerance_does_not_gate_are_named_in_every_output(
    small: Project, workers: tuple[str, ...]
) -> None:
    gated(small, "Gate.tolerance(abs=0.4)")
    small.update()
    for name, text in outputs(small, *workers).items():
        assert "0 of 3 slices gated; not gated: locale=de (16 queries), locale=en (17" in text, name
        assert "warning: an assertion names slices, but gates none of them" in text, name


def test_a_collapsed_slice_that_is_not_gated_is_reported(small: Project) -> None:
    gated(small, "Gate.tolerance(abs=0.4)")
    small.update()
    small.rank(COLLAPSED)
    for name, text in outputs(small).items():
        assert "slices that are not gated, but fell by more than chance" in text, name
        fall = "in locale=de (16 queries): 1.0000 -> 0.1667, p = 0.0000"
        assert fall in text.replace("&gt;", ">"), name
        assert "passed, lower, but a slice that is not gated fell" in " ".join(text.split()), name


@pytest.mark.parametrize("gate", ["Gate.significant()", "Gate.noninferior(margin=0.4)"])
def test_a_statistical_gate_gates_small_slices(small: Project, gate: str) -> None:
    gated(small, gate)
    small.update()
    small.rank(COLLAPSED)
    result = small.run()
    result.assert_outcomes(failed=1)
    assert "(16 queries, regressed, more than chance explains" in text_of(result)


def test_an_explicit_min_queries_holds_for_a_statistical_gate(small: Project) -> None:
    gated(small, "Gate.significant(min_drop=0.3, min_queries=17)")
    small.update()
    small.rank(COLLAPSED)
    result = small.run()
    result.assert_outcomes(passed=1)
    assert "2 of 3 slices gated; not gated: locale=de (16 queries); min_queries=17" in text_of(
        result
    )


def test_a_slice_with_too_few_changed_queries_is_named(small: Project) -> None:
    gated(small, "Gate.significant()")
    small.update()
    small.rank({0: 2, 1: 2, 20: 2})
    text = text_of(small.run())
    too_few = "changed: too few for a verdict)"
    de, en = f"locale=de (16 queries, 2 {too_few}", f"locale=en (17 queries, 1 {too_few}"
    assert f"1 of 3 slices gated; not gated: {de}, {en}\n" in text


def test_a_gate_that_could_not_have_failed_says_so_in_every_output(small: Project) -> None:
    gated(small, "Gate.significant()")
    small.update()
    small.rank(dict.fromkeys((0, 1, 20), 9))
    for name, text in outputs(small).items():
        assert "warning: gates that could not have failed" in text, name
        assert (
            "decides nothing: with 3 changed queries the smallest possible p is 0.125, above alpha"
        ) in text, name
        assert "passed, lower, decides nothing" in " ".join(text.split()), name


def test_a_gate_on_enough_changed_queries_does_not_say_that_it_decides_nothing(
    small: Project,
) -> None:
    gated(small, "Gate.significant(min_drop=0.3)")
    small.update()
    small.rank({0: 2, 1: 2, 2: 2, 20: 2, 21: 2})
    text = text_of(small.run())
    assert "passed, lower" in text
    assert "decides nothing" not in text
    small.rank({})
    assert "decides nothing" not in text_of(small.run())  # nothing changed


def test_a_test_on_four_queries_decides_nothing_whatever_changed(project: Project) -> None:
    project.golden(project.queries(4))
    project.test(TEST.replace("GATE", "Gate.significant()"))
    project.update()
    text = text_of(project.run())
    assert "with 4 queries the smallest possible p is 0.0625, above alpha 0.05" in text


def test_an_allowance_of_all_that_the_baseline_has_decides_nothing(small: Project) -> None:
    small.test(TEST.replace("GATE", "Gate.tolerance(abs=0.4)").replace("0.5", "0.1"))
    small.rank(dict.fromkeys(range(50), 3))
    small.update()
    text = text_of(small.run())
    assert (
        "tolerance(abs=0.4, rel=0) decides nothing: it allows a fall of 0.4000, but the baseline "
        "is only 0.3333 from the worst possible value"
    ) in text


def test_every_slice_is_named_however_many_there_are(project: Project) -> None:
    lines: list[dict[str, Any]] = project.queries(80)
    for number, line in enumerate(lines):
        line["locale"] = f"locale-{number % 40:02}"
    project.golden(lines)
    gated(project, "Gate.tolerance(abs=0.1)")
    project.update()
    for name, text in outputs(project).items():
        if name != "json":
            for number in range(40):
                assert f"locale=locale-{number:02} (2 queries)" in text, name


def test_a_failed_test_still_names_its_slices(small: Project) -> None:
    gated(small, "Gate.tolerance(abs=0.1)")
    small.update()
    small.rank(COLLAPSED)
    result = small.run()
    result.assert_outcomes(failed=1)
    assert "0 of 3 slices gated" in text_of(result)
    assert json.loads(small.baseline_file().read_text("utf-8"))
