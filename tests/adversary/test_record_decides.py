"""What decides is in the record: what a branch adds, drops or moves cannot hide a fall."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gated_test import MRR, GatedTest, MainBranch, Outcome
from project import Project
from record_entries import write_entry

from pytest_rankcheck import Gate, Record, assert_not_regressed
from pytest_rankcheck.baselines.families import (
    Family,
    families_of_last,
    larger_families,
    next_families,
)

SIGNIFICANT = partial(assert_not_regressed, metric="RR", gate=Gate.significant())
FIVE = ("locale", "device", "length", "kind", "year")
WORSE_IN_GERMAN = dict.fromkeys(range(40, 60), 2)


@pytest.fixture
def gated(tmp_path: Path) -> GatedTest:
    return GatedTest(tmp_path)


def labelled(**labels: Any) -> list[dict[str, Any]]:
    """Return the queries of the project, each with the label that a function gives its number."""
    lines = Project.queries()
    for index, line in enumerate(lines):
        line |= {name: label(index) for name, label in labels.items()}
    return lines


def on_branch(gated: GatedTest) -> Outcome:
    """Run against the record as it is, which is that of main."""
    return gated.run(main=MainBranch(gated.path.read_text("utf-8")))


def test_attributes_that_a_branch_adds_do_not_dilute_its_test(gated: GatedTest) -> None:
    gated.golden(labelled(**dict.fromkeys(FIVE, lambda index: ["a", "b"][index % 2])))
    gated.assertions = (SIGNIFICANT,)
    gated.rank(dict.fromkeys(range(3), 2))
    gated.update()
    gated.rank(dict.fromkeys(range(3, 15), 2))  # 12 of 15 fell: p = 0.018, of 11 decisions 0.19
    alone = on_branch(gated)
    assert "RR regressed" in alone.failure
    gated.assertions = (partial(SIGNIFICANT, by=FIVE),)
    for outcome in (on_branch(gated), gated.run(), gated.run(update=True)):
        assert "RR regressed" in outcome.failure
        assert "labels and replicates of the baseline" in outcome.failure
        assert "regressed, decided as in the baseline" in outcome.table["RR"]
    gated.rank(dict.fromkeys(range(3), 2))
    gated.update()
    assert [each["by"] for each in gated.record["assertions"]] == [list(FIVE)]


def test_attributes_belong_to_an_assertion_not_to_the_test(gated: GatedTest) -> None:
    overall = partial(MRR, abs=0.2)
    by_locale = partial(assert_not_regressed, metric="R@5", abs=0.15, by="locale")
    gated.assertions = (overall, by_locale)
    gated.update()
    gated.rank(WORSE_IN_GERMAN)  # RR falls by 0.125, in German by 0.25
    assert on_branch(gated).passed
    gated.assertions = (by_locale, overall)
    assert on_branch(gated).passed
    gated.assertions = (overall, partial(by_locale, by=None))
    assert "the slices of locale are no longer gated" in on_branch(gated).text
    gated.rank(dict.fromkeys(range(40, 50), 6))
    assert "R@5 regressed in locale=de" in on_branch(gated).failure


def test_a_slice_that_is_no_longer_gated_decides_until_that_is_approved(gated: GatedTest) -> None:
    gated.assertions = (partial(MRR, abs=0.2, by="locale"),)
    gated.update()
    gated.rank(WORSE_IN_GERMAN)
    gated.assertions = (partial(MRR, abs=0.2),)
    outcome = on_branch(gated)
    assert "RR regressed in locale=de" in outcome.failure
    main = MainBranch(gated.path.read_text("utf-8"))
    assert gated.run(approve="one index for all", main=main).passed
    assert gated.run(main=main).passed
    assert {*gated.record["approvals"][0]["keys"]} == {
        "fall:RR",
        "fall:RR[locale=de]",
        "slice-gone:locale",
    }


# --- a label moves, its query stays compared -----------------------------------------------------


def relabel(gated: GatedTest, first: int, count: int, label: object = "en") -> None:
    lines = Project.queries()
    for line in lines[first : first + count]:
        line["locale"] = label
    gated.golden(lines)


def test_labels_of_more_than_5_percent_need_a_reason_and_fewer_are_listed(gated: GatedTest) -> None:
    gated.assertions = (partial(MRR, abs=0.2, by="locale"),)
    gated.update()
    main = MainBranch(gated.path.read_text("utf-8"))
    relabel(gated, 40, 4)
    moved = "4 of 80 queries moved in locale: de -> en (4)"
    assert moved in gated.run(main=main).text
    assert gated.run(update=True).passed
    assert gated.run(main=main).passed
    relabel(gated, 40, 24)
    lost = "24 of 80 queries lost a label of locale: de -> en (24)"
    assert lost in gated.run(main=main).failure
    assert "20 of 80 queries lost a label" in gated.run(update=True).failure
    outcome = gated.run(approve="tagged by a new model", main=main)
    assert outcome.passed, outcome.failure
    assert "slice-gone:locale" in gated.record["approvals"][0]["keys"]
    assert gated.run(main=main).passed
    relabel(gated, 40, 40)
    gated.run(update=True)
    assert not gated.run(main=main).passed


def test_a_further_label_needs_no_reason(gated: GatedTest) -> None:
    gated.assertions = (partial(MRR, abs=0.2, by="locale"),)
    gated.update()
    relabel(gated, 40, 20, ["de", "en"])
    outcome = on_branch(gated)
    assert outcome.passed, outcome.failure
    assert "20 of 80 queries moved in locale: de -> de and en (20)" in outcome.text


def test_clusters_that_are_merged_need_a_reason_and_decide_as_recorded(gated: GatedTest) -> None:
    gated.assertions = (SIGNIFICANT,)

    def clustered(clusters: int) -> None:
        gated.golden(labelled(user=lambda index: f"u{index % clusters}"))
        gated.golden_set = gated.golden_set.clustered("user")

    clustered(40)
    gated.update()
    gated.rank(dict.fromkeys(range(20), 2))
    clustered(2)
    for outcome in (on_branch(gated), gated.run(update=True)):
        assert "RR regressed" in outcome.failure
    gated.rank({})
    gated.golden(labelled(user=lambda index: f"u{max(index, 2) % 40}"))
    gated.golden_set = gated.golden_set.clustered("user")
    assert "2 of 80 queries are in another cluster" in on_branch(gated).text
    assert on_branch(gated).passed
    clustered(2)
    assert "76 of 80 queries are in another cluster" in on_branch(gated).failure
    assert "76 of 80 queries are in another cluster" in gated.run(update=True).failure


def test_another_name_of_the_ranker_is_nothing_to_approve(gated: GatedTest) -> None:
    gated.update()
    text = replace(Record.load(gated.path), ranker="yesterday's").text
    gated.path.write_text(text, "utf-8")
    renamed = gated.path.read_bytes()
    outcome = gated.run(approve="why")
    assert "nothing to approve" in outcome.text
    assert gated.path.read_bytes() == renamed


def test_what_decides_cannot_be_edited_out_of_a_record(gated: GatedTest) -> None:
    gated.golden(labelled(user=lambda index: f"u{index % 40}", locale=lambda index: "de"))
    gated.golden_set = gated.golden_set.clustered("user")
    gated.assertions = (partial(MRR, by="locale"),)
    gated.update()
    main = MainBranch(gated.path.read_text("utf-8"))

    def edited(change: Callable[[dict[str, Any]], object]) -> str:
        entry = json.loads(str(main.content))
        change(entry)
        write_entry(gated.path, entry)
        return gated.run(main=main).failure

    assert edited(lambda entry: None) == ""
    gone = "what its assertions decide together is gone"
    assert gone in edited(lambda entry: entry.pop("assertions"))
    lines = "its slices of locale are not those of its queries"
    assert lines in edited(lambda entry: [line.pop("slices") for line in entry["queries"]])
    moved = "80 of 80 queries are in another cluster"
    assert moved in edited(lambda entry: [line.pop("cluster") for line in entry["queries"]])
    looser = "the gate of RR was tolerance(abs=0.01, rel=0), and is tolerance(abs=0.5) now"
    wider = {"RR": "tolerance(abs=0.5)"}
    assert looser in edited(lambda entry: entry["assertions"][0].update(metrics=wider))
    fewer = "the slices of locale are no longer gated"
    assert fewer in edited(lambda entry: entry["assertions"][0].pop("by"))


# --- which recorded families decide --------------------------------------------------------------

RR, P5 = {"RR": "tolerance(abs=0.01, rel=0)"}, {"P@5": "tolerance(abs=0.01, rel=0)"}
LOOSE = {"RR": "tolerance(abs=0.5, rel=0)"}


@pytest.mark.parametrize(
    ("recorded", "asserted", "expected"),
    [
        ([RR, P5], [RR], [RR]),
        ([RR, P5], [RR, P5], [P5]),
        ([RR, P5], [P5, RR], [RR]),
        ([RR | P5], [RR], [RR | P5]),
        ([RR | P5], [RR, P5], [RR | P5]),
        ([RR, P5], [RR | P5], [RR, P5]),
        ([RR], [LOOSE], [RR]),
        ([RR, LOOSE], [LOOSE], [LOOSE]),
        ([RR], [P5], []),
    ],
)
def test_an_assertion_is_judged_by_its_recorded_families(
    recorded: list[dict[str, str]], asserted: list[dict[str, str]], expected: list[dict[str, str]]
) -> None:
    found = families_of_last([*map(Family, recorded)], [*map(Family, asserted)])
    assert [family.metrics for family in found] == expected


def test_only_a_family_that_grew_is_listed() -> None:
    both = [Family(RR), Family(RR | P5, ("lang",))]
    assert [*larger_families(both, both)] == []
    assert [*larger_families([Family(RR)], [Family(RR | P5)])] == ["RR, with 1 more metric"]


@pytest.mark.parametrize(
    ("recorded", "asserted", "expected"),
    [
        ([Family(RR)], [Family(RR | P5)], [Family(RR | P5)]),
        ([Family(RR)], [Family(LOOSE)], [Family(RR)]),
        ([Family(RR, ("lang",))], [Family(RR)], [Family(RR, ("lang",))]),
        ([Family(RR)], [Family(LOOSE, ("lang",))], [Family(LOOSE, ("lang",)), Family(RR)]),
        ([Family(RR | P5)], [Family(RR), Family(P5)], [Family(RR), Family(P5)]),
        ([Family(RR), Family(P5)], [Family(RR)], [Family(RR), Family(P5)]),
    ],
)
def test_an_update_keeps_what_was_decided_more_strictly(
    recorded: list[Family], asserted: list[Family], expected: list[Family]
) -> None:
    found = next_families(recorded, asserted)
    assert sorted(found, key=str) == sorted(expected, key=str)


# --- replicates ----------------------------------------------------------------------------------

SEEDS = ({5: 2}, {6: 2}, {7: 3}, {8: 4})
NOISY = partial(assert_not_regressed, metric="RR", gate=Gate.tolerance(noise=3))


def test_fewer_replicates_do_not_allow_more_against_a_reference(gated: GatedTest) -> None:
    gated.assertions = (NOISY,)
    gated.others = SEEDS  # s = 0.0037: a fall of 0.007 is allowed with 5 of them, 0.012 with one
    gated.update()
    worse = {9: 2, 10: 4}  # 0.9940 -> 0.9844 with one
    gated.rank(worse)
    gated.others = tuple({**ranks, **worse} for ranks in gated.others)
    assert not on_branch(gated).passed
    gated.others = ()
    assert "RR regressed" in on_branch(gated).failure


def test_replicates_that_vary_more_than_recorded_do_not_allow_more(gated: GatedTest) -> None:
    gated.assertions = (NOISY,)
    gated.others = SEEDS
    gated.update()
    gated.others = tuple(dict.fromkeys(range(count)) for count in (40, 20, 30, 10))
    for outcome in (on_branch(gated), gated.run(), gated.run(update=True)):
        assert "RR regressed" in outcome.failure


def test_a_fall_beyond_an_approved_one_is_explained_without_the_approved_part(
    gated: GatedTest,
) -> None:
    gated.update()
    main = MainBranch(gated.path.read_text("utf-8"))
    approved = {0: 2, 1: 2}
    gated.rank(approved)
    assert gated.run(approve="half the latency", main=main).passed
    gated.rank({**approved, 5: 3, 6: 3})
    failure = gated.run(main=main).failure
    assert "RR regressed on golden set 'web' (80 queries): 0.9875 -> 0.9708" in failure
    assert "q005" in failure
    assert "q000" not in failure, "it fell before the approval"
    assert "baseline: test_mrr--web.json (unchanged)" in failure
    assert "--rankcheck-baseline-ref=main --rankcheck-approve" in failure


def test_labels_that_a_golden_set_lost_stay_in_the_lines_that_stay(gated: GatedTest) -> None:
    labels = labelled(locale=lambda index: "de", year=lambda index: str(index % 2))
    gated.golden(labels)
    gated.assertions = (partial(MRR, by=("locale", "year")),)
    before = gated.update()
    for line in labels:
        del line["locale"]
    gated.golden(labels)
    gated.assertions = (partial(MRR, by="year"),)
    assert gated.update() == before
    gated.golden(labels[1:])
    gated.update()
    assert gated.record["slices"] == {"locale": {"de": 79}, "year": {"0": 39, "1": 40}}
    assert gated.run().passed, "the record can be read"
