"""What explains a verdict is in every output: the queries it depends on, what other gates say."""

from __future__ import annotations

import html
import json
import re

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

TEST = """
from pytest_rankcheck import Gate, assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR"GATE)
"""

ENGINE = """
def search(text):
    return ["new", "newer"] if text == "{}" else [f"doc of {{text}}", "filler-0"]
"""


def outputs(project: Project, *arguments: str) -> dict[str, str]:
    """Return what a run shows in the terminal, Markdown, HTML and JSON, spaces collapsed."""
    files = {name: project.path / f"report.{name}" for name in ("json", "markdown", "html")}
    result = project.run(*arguments, *(f"--rankcheck-{n}={path}" for n, path in files.items()))
    texts = {name: path.read_text("utf-8") for name, path in files.items()}
    texts["markdown"] = texts["markdown"].replace("\\", "")  # it escapes punctuation
    texts["terminal"] = text_of(result)
    return {name: " ".join(text.split()) for name, text in texts.items()}


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_gate_that_allows_no_fall_says_so(project: Project, workers: tuple[str, ...]) -> None:
    project.test(TEST.replace("GATE", ""))
    project.update()
    project.rank({3: 2, 50: 3})
    for name, text in outputs(project, *workers).items():
        assert "this gate allows no fall, so it blocks about half of the changes" in text, name
        assert "under significant() it would have passed" in text, name
        assert "under noninferior(margin=0.02) it would have been inconclusive" in text, name
        assert "gate=Gate.significant()" in text, name
        assert "with 80 queries" in text, name  # what the golden set can detect
        assert "without queries q050 and q003 it would have passed" in text, name
    (gate,) = json.loads((project.path / "report.json").read_text("utf-8"))["gates"]
    assert gate["other_rulings"] == [
        {"gate": "significant()", "ruling": "passed"},
        {"gate": "noninferior(margin=0.02)", "ruling": "inconclusive"},
    ]
    assert gate["fragility"] == {
        "units": ["q050", "q003"],
        "queries": [["q050"], ["q003"]],
        "are_clusters": False,
        "ruling": "passed",
    }


def test_a_fall_that_missing_judgments_may_explain_says_so(project: Project) -> None:
    project.test(TEST.replace("RR", "P@2").replace("GATE", ", abs=0.001"))
    project.write("engine.py", ENGINE.format("none"))
    project.update()
    # P@2 falls from 1/2 to 0 in one query; one of its two new documents is as good as the lost one.
    project.write("engine.py", ENGINE.format("query 3"))
    for name, text in outputs(project).items():
        assert "2 documents new in the top 2 are unjudged and counted as not relevant" in text, name
        assert "if the new had grade 2, +0.0062" in text, name
        assert (
            "if 1 of the 2 new ones (50%) was relevant, the fall would vanish; of the judged "
            "documents in the top 2, 50% are relevant"
        ) in text, name
    (gate,) = json.loads((project.path / "report.json").read_text("utf-8"))["gates"]
    assert gate["unjudged"]["needed"] == 1
    assert gate["unjudged"]["could_explain_fall"]


def test_a_tolerance_is_not_lectured(project: Project) -> None:
    project.test(TEST.replace("GATE", ", abs=0.001"))
    project.update()
    project.rank({3: 2})
    for name, text in outputs(project).items():
        assert "allows no fall" not in text, name
        assert "without query q003 it would have passed" in text, name


def test_a_fall_that_passes_as_chance_says_what_would_have_been_shown(project: Project) -> None:
    project.test(TEST.replace("GATE", ", gate=Gate.significant()"))
    project.update()
    project.rank({3: 2, 20: 2, 40: 2, 50: 2, 60: 1})
    for name, text in outputs(project).items():
        assert "falls that passed because chance could explain them" not in text, name  # 4 of 4
    project.rank(dict.fromkeys(range(0, 80, 2), 2))
    project.update("--rankcheck-approve", "half of them second")
    project.rank(
        {**dict.fromkeys(range(0, 80, 2), 2), 1: 2, 3: 2, 5: 2, 7: 2, 9: 2, 11: 2, 2: 1, 4: 1}
    )
    for name, text in outputs(project).items():
        assert "falls that passed because chance could explain them" in text, name
        assert "0.7250, -0.0250, p = 0.0898 under significant(" in text, name
        assert "so a smaller loss is not ruled out" in text, name


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_slices_too_small_for_the_margin_are_warned_of(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.test(TEST.replace("GATE", ', by="locale", gate=Gate.noninferior(margin=0.01)'))
    lines = project.queries()
    for line in lines[:12]:
        line["locale"] = "fr"
    project.golden(lines)
    project.rank(dict.fromkeys(range(0, 80, 2), 2))
    project.update()
    project.rank(dict.fromkeys(range(1, 80, 2), 2))  # as many better as worse, in every slice
    for name, text in outputs(project, "--rankcheck-plan", *workers).items():
        assert "warning: gates that would be inconclusive for most changes" in text, name
        assert "of the changes that lose nothing, because slices are too small" in text, name
        assert "locale=fr (12 queries, " in text, name
        assert "min_queries=" in text, name
    assert "with slices too small for the margin" in outputs(project, *workers)["markdown"]
    project.test(TEST.replace("GATE", ', by="locale", gate=Gate.noninferior(margin=0.9)'))
    for name, text in outputs(project).items():
        assert "would be inconclusive" not in text, name


def test_a_golden_set_that_only_tolerances_gate_gets_a_suggestion_once(project: Project) -> None:
    two = "\n    assert_not_regressed(evaluation, baseline, 'P@1', abs=0.5)\n"
    project.test(TEST.replace("GATE", ", abs=0.5").rstrip() + two)
    project.update()
    suggestion = "golden set 'web' (80 queries) is gated by a tolerance; try rankcheck_gate = "
    assert suggestion not in outputs(project)["terminal"]  # nothing changed
    project.rank({3: 2})
    for name, text in outputs(project).items():
        assert suggestion in html.unescape(text), name
        assert name != "terminal" or text.count(suggestion) == 1
    project.test(TEST.replace("GATE", ", gate=Gate.significant()").rstrip() + two)
    assert suggestion not in outputs(project)["terminal"]


def test_an_inconclusive_verdict_names_the_query_it_depends_on(project: Project) -> None:
    project.test(TEST.replace("GATE", ", gate=Gate.noninferior(margin=0.04)"))
    project.update()
    project.rank({3: 10})
    for name, text in outputs(project).items():
        assert "without query q003 it would have passed" in text, name
    project.rank({3: 10, 4: 10, 50: 2})
    found = re.search(
        r"a fall of 0.04 needs ([\d,]+) to ([\d,]+) queries \(best guess ([\d,]+)\)",
        outputs(project)["terminal"],
    )
    assert found is not None
    low, high, best = (int(number.replace(",", "")) for number in found.groups())
    assert low < best < high
    project.rank(dict.fromkeys(range(40), 2))
    for name, text in outputs(project).items():
        assert "fragile" not in text, name


def test_an_inconclusive_verdict_says_that_only_the_correction_prevents_it(
    project: Project,
) -> None:
    """80 unchanged queries, and one that lost everything: t = 81 (0.035 - 1/81) = 1.835.

    p = 0.035 is below 0.05, but not if it counts twice. For a margin of 0.03, p = 0.08.
    """
    text = TEST.replace('"RR"GATE', '["RR", "nDCG@10"], gate=Gate.noninferior(margin=0.035)')
    for margin, is_alone in (("0.035", True), ("0.03", False)):
        project.test(text.replace("0.035", margin))
        project.update("--rankcheck-approve", "another margin")
        for name, output in outputs(project).items():
            alone = f"judged alone, this would rule out a fall of {margin}, but the decisions of"
            assert (alone in output) is is_alone, name
