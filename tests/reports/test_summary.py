"""The summary's table and notes, from entries as they arrive."""

from contextvars import Context
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from pytest_rankcheck.baselines.change import Change
from pytest_rankcheck.baselines.policy import Action, Settlement
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.remedies import Place
from pytest_rankcheck.reports.findings import (
    GateFinding,
    MetricFinding,
    Note,
    ReportedFinding,
    Said,
    Topic,
    rows_of,
)
from pytest_rankcheck.reports.ledger import collecting, enter
from pytest_rankcheck.reports.text.baseline_notes import (
    MeanChange,
    baseline_notes,
    golden_change_text,
)
from pytest_rankcheck.reports.text.summary_table import summary_lines


def row(
    metric: str, now: float, baseline: float | None, verdict: str, failed: bool = False, **more: Any
) -> GateFinding:
    more = {"golden_set": "web", "now": now, "baseline": baseline, **more}
    return GateFinding(metric=metric, said=verdict, failed=failed, **more)  # type: ignore[arg-type]


def texts(*findings: ReportedFinding) -> list[str]:
    return [line.text for line in summary_lines(findings)]


def test_a_row_is_one_gate() -> None:
    """Neither tests nor rankers, slices or gates of one metric share a row."""
    bound = row("RR", 1.0, None, "at least 0.9000", test="test_a[x]", ranker="bm25")
    broken = row("RR", 0.5, None, "below 0.9000", True, test="test_a[y]", ranker="dense")
    gate = row("RR", 0.5, 0.6, "passed, lower", test="test_b[y]", ranker="dense")
    part = row("RR", 0.2, 0.6, "regressed", True, test="test_b[y]", ranker="dense", slice="l=de")
    ungated = MetricFinding(golden_set="web", ranker="dense", metric="P@5", now=0.5)
    assert texts(bound, broken, gate, part, ungated) == [
        "golden set  ranker  metric    baseline     now   change  verdict",
        "web         dense   P@5              -  0.5000        -  not gated",
        "test_a[x]",
        "web         bm25    RR               -  1.0000        -  at least 0.9000",
        "test_a[y]",
        "web         dense   RR               -  0.5000        -  FAILED: below 0.9000",
        "test_b[y]",
        "web         dense   RR          0.6000  0.5000  -0.1000  passed, lower",
        "web         dense   RR[l=de]    0.6000  0.2000  -0.4000  FAILED: regressed",
    ]
    short = summary_lines([gate, part, replace(part, failed=False, said=Said.PASSED)], most=3)
    assert [line.text.split()[1] for line in short] == ["set", "RR", "RR[l=de]"]
    assert texts(part, row("AP", 0.2, 0.2, "passed", test="test_c", ranker="dense")) == [
        "golden set  metric    baseline     now   change  verdict",
        "web         RR[l=de]    0.6000  0.2000  -0.4000  FAILED: regressed",
        "web         AP          0.2000  0.2000  +0.0000  passed",
    ]


def test_an_ungated_metric_has_a_row_unless_a_gate_has_one() -> None:
    plain = MetricFinding(golden_set="web", metric="RR", now=0.4)
    recorded = replace(plain, baseline=0.3)
    assert [row.baseline for row in rows_of([plain, recorded, plain])] == [0.3]
    assert len(rows_of([plain, row("RR", 0.5, 0.5, "passed")])) == 1
    assert "-0.000012" in texts(row("RR", 0.5, 0.500012, "passed, lower"))[1]  # can be seen


def test_failures_and_passes_have_colours() -> None:
    entries: list[ReportedFinding] = [
        row("RR", 0.5, 0.6, "regressed", failed=True),
        row("AP", 0.5, 0.5, "passed"),
        MetricFinding(golden_set="web", metric="P@5", now=0.5, baseline=0.5),
    ]
    entries += [
        Note(Topic.EXPECTATIONS, "2 hold", failure=Explanation(headline="why")),
        Note(Topic.EXPECTATIONS, "4"),
    ]
    lines = list(summary_lines(entries))
    assert [line.colour for line in lines] == ["", "red", "green", "", "", "red", ""]
    assert lines[-2].text == "  FAILED: 2 hold"


def test_notes_are_grouped_and_distinct_with_actions_last() -> None:
    note = Note(Topic.WRITTEN, "a")
    assert texts(note, Note(Topic.MEASURED, "b"), note) == [
        "measured:",
        "  b",
        "baselines written; commit them:",
        "  a",
    ]


def outcome(action: Action, **more: Any) -> list[str]:
    """Return what is said of the file of a test that checks rankings."""
    settlement = Settlement(action)
    baseline = SimpleNamespace(
        test_id="test_it",
        golden_name="web",
        place=Place("it.json", "test_it"),
        mode=SimpleNamespace(inconclusive="pass", approval=more.pop("reason", None)),
        evaluation=SimpleNamespace(golden=SimpleNamespace(attributes=())),
        checks=[],
        all_checks=[],
        defaults=SimpleNamespace(slices=["locale"]),
        ranking_checks=[SimpleNamespace(changed=2, limits=None)],
        record=None,
        next_record=None,
        less_strict=lambda: [Change("metric-gone", words="AP is no longer gated")],
    )
    vars(baseline).update(more)
    notes = texts(*baseline_notes(cast("Any", baseline), settlement))
    always = [
        "slices:",
        "  golden set 'web' has no attribute 'locale', which rankcheck_slices names",
        "no longer gated; an update keeps the approved values, an approval drops them:",
        "  test_it: AP is no longer gated",
    ]
    assert [note for note in notes if note in always] == always
    return [note for note in notes if note not in always]


def test_what_became_of_a_baseline_is_put_into_words() -> None:
    assert outcome(Action.CREATE, next_record="new") == [
        "baselines written; commit them:",
        "  test_it: created: rankings new",
    ]
    approve = 'pytest test_it --rankcheck-approve "why this is acceptable"'
    rose = [SimpleNamespace(rise="nDCG@10", fell=False, wanted_runs=0)]
    fell = [*rose, SimpleNamespace(rise=None, fell=True, wanted_runs=0)]
    assert outcome(Action.KEEP, all_checks=rose) == [
        "baselines kept as they are; the tests passed:",
        f"  test_it: rankings new; to record what is measured: {approve}",
    ]
    assert outcome(Action.LEAVE, all_checks=rose) == [
        "gains that are not certain enough for an update to raise the baseline:",
        f"  test_it: rankings new; to record what is measured: {approve}",
    ]
    assert outcome(Action.LEAVE, all_checks=fell) == []
    assert outcome(Action.APPROVE, reason="why", next_record="new")[1] == (
        '  test_it: approved "why": rankings new'
    )


def test_a_changed_golden_set_says_what_it_moved() -> None:
    comparison = SimpleNamespace(
        is_paired=True, added=("a", "b"), removed=("c",), changed=(), evaluation=None
    )
    check = SimpleNamespace(comparison=comparison, verdict=None)
    baseline = SimpleNamespace(checks=[check], record=None)
    text = golden_change_text(cast("Any", baseline), [MeanChange("RR", 0.5, 0.45, -0.05)])
    assert text == "2 added, 1 removed, 0 edited queries alone move the mean: RR -0.0500"


def test_nothing_is_collected_outside_a_test() -> None:
    Context().run(enter, row("RR", 0.5, None, "passed"))
    with collecting() as outer:
        with collecting() as inner:
            enter(row("RR", 0.5, None, "passed"))
        enter(row("AP", 0.5, None, "passed"))
    assert inner == [row("RR", 0.5, None, "passed")]
    assert outer == [row("AP", 0.5, None, "passed")]


def test_the_table_fits_the_width_of_the_terminal() -> None:
    verdict = "regressed, but at least 0.4000"
    entries = [row("nDCG(gain=exponential)@10", 0.5, 0.6, verdict, failed=True)]
    lines = [line.text for line in summary_lines(entries, 69)]
    assert lines == [
        "golden set  metric                     baseline     now   change  verdict",
        "web         nDCG(gain=exponential)@10    0.6000  0.5000  -0.1000",
        "  FAILED: regressed, but at least 0.4000",
    ]
    assert [*summary_lines(entries, 200)] == [*summary_lines(entries)]
    narrow = summary_lines([row("RR", 0.5, 0.6, "passed")], 20)  # numbers are shown all the same
    assert any("0.6000  0.5000  -0.1000" in line.text for line in narrow)


def test_without_v_a_few_lines_say_what_to_do_and_the_others_are_counted() -> None:
    findings = [
        Note(Topic.MEASURED, "slow"),
        Note(Topic.WRITTEN, "written"),
        Note(Topic.UNMET_IDS, "no ids"),
        *(Note(Topic.CAN_BE_RAISED, f"test {n}") for n in range(3)),
        Note(Topic.LINT, "few queries", "golden set 'web'"),
        Note(Topic.NOT_RUN, "a.json"),
        Note(Topic.NOT_RUN, "b.json"),
        Note(Topic.EXPECTATIONS, "1 violated", failure=Explanation(headline="why")),
        Note(Topic.EXPECTATIONS, "2 hold"),
    ]
    short = [line.text for line in summary_lines(findings, most=3)]
    assert short == [
        "expectations:",
        "  FAILED: 1 violated",
        "lint of golden set 'web': few queries",
        f"{Topic.NOT_RUN.value} (1 of 2): a.json",
        f"{Topic.UNMET_IDS.value}: no ids",
        "baselines written; commit them:",
        "  written",
        "6 more notes: -v",
    ]
    assert not any("-v" in line.text for line in summary_lines(findings))
    assert [line.text for line in summary_lines(findings[1:2], most=3)][-1] == "  written"
    assert next(iter(summary_lines(findings[:1], most=3))).text == "1 more note: -v"


def test_of_many_slices_those_that_failed_are_shown_and_the_others_counted() -> None:
    slices = [
        row("RR", n / 10, 0.9, Said.INCONCLUSIVE, n < 9, slice=f"l={n}", test="a")
        for n in range(9, -1, -1)
    ]
    whole = row("RR", 0.5, 0.9, "passed", test="a")
    lines = [line.text for line in summary_lines([whole, *slices], most=3)]
    assert [line.split()[1] for line in lines[1:-1]] == [
        *("RR", *(f"RR[l={n}]" for n in range(8, 0, -1)))
    ]
    assert lines[-1] == "2 more rows (1 FAILED): -v"
    assert len(texts(whole, *slices)) == 12
