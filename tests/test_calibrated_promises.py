"""The tables of the manual keep the promises of the gates; benchmarks wrote them."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
CALIBRATION = "reference/calibration.md"


def part(page: str, name: str) -> str:
    """Return what a benchmark wrote between the markers of a part."""
    text = (DOCS / page).read_text("utf-8")
    found = re.search(
        rf"<!-- {re.escape(name)}: [^\n]*-->\n(.*?)<!-- end of {re.escape(name)} -->", text, re.S
    )
    assert found is not None, f"{page} has no part {name}"
    return found[1]


def rows(table: str) -> dict[str, list[str]]:
    """Return the cells of a table by the first cell of each row, without its head."""
    lines = [line.strip("| ") for line in table.splitlines() if line.startswith("|")]
    cells = [re.split(r" *\| *", line) for line in lines[2:]]
    return {first: rest for first, *rest in cells}


def percent(cell: str) -> float:
    return float(cell.partition("%")[0])


def test_noninferior_passes_a_fall_of_its_margin_in_at_most_6_percent_of_every_real_cell() -> None:
    title = "**Falls of the margin that `noninferior` passes**\n\n"
    table = part(CALIBRATION, "rates on real pairs").partition(title)[2].partition("\n\n")[0]
    found = rows(table)
    assert len(found) == 12, "six families, two directions"
    for name, cells in found.items():
        assert len(cells) == 5, "25 to 500 queries"
        assert all(percent(cell) <= 6 for cell in cells[1:]), name


def test_the_summary_says_of_every_stated_rate_whether_it_holds() -> None:
    lines = [line for line in part(CALIBRATION, "rates").splitlines() if line.startswith("- `")]
    assert len(lines) == 3
    for line in lines:
        holds = re.search(r": holds in all \d+ cells; the worst is [\d.]+% ± [\d.]+%", line)
        assert holds or re.search(r": exceeded in \d+ of \d+ cells, by up to [\d.]+ points", line)
        assert holds or not line.startswith("- `noninferior")


def test_sets_of_gates_that_block_more_harms_block_more_real_rankers_that_are_worse() -> None:
    found = rows(part(CALIBRATION, "proved gates"))
    correlations = [float(cell) for cell in found.pop("rank correlation") if cell]
    assert len(found) >= 12
    assert all(percent(cells[0]) <= 6 for cells in found.values()), "of innocent changes"
    assert len(correlations) == 4
    page = (DOCS / "prove.md").read_text("utf-8")
    assert f"the rank correlation is {min(correlations)} to {max(correlations)}" in page


def test_replays_keep_their_promises() -> None:
    """Blocks of about 6% at most and intervals of 93% or more, with all assumptions right."""
    found = {
        name: list(map(percent, cells))
        for name, cells in rows(part(CALIBRATION, "replays")).items()
    }
    right = [name for name in found if name.startswith("the right ") and name.endswith("`")]
    assert len(right) == 3
    for name in right:
        blocked, missed, _, held = found[name]
        assert (blocked <= 6, missed <= 0.5, held >= 93) == (True, True, True), name
    assert found["no propensity (`uncorrected=True`)"][0] > 98


def test_innocent_pull_requests_are_seldom_blocked_after_a_year() -> None:
    by_policy = rows(part(CALIBRATION, "the ratchet"))
    (ours,) = (cells for name, cells in by_policy.items() if "(ours)" in name)
    assert percent(ours[-1]) <= 10
    assert percent(by_policy["rises on any gain"][-1]) > 30, "the ratchet that it prevents"


def test_gates_seldom_block_a_retraining_where_they_know_its_noise() -> None:
    """At most 6% of innocent ones are blocked, and of falls of the margin are passed."""
    found = rows(part(CALIBRATION, "retraining"))
    assert len(found) == 14
    for name, cells in found.items():
        knows = not name.endswith("1, 1")
        assert (max(map(percent, cells[:4])) <= 6) == knows or name == "nDCG@10: 1, 1", name


def test_every_rate_is_of_at_least_4000_draws_and_its_error_is_stated() -> None:
    in_calibration = (
        "rates",
        "rates on real pairs",
        "tolerances",
        "rates of designs",
        "the ratchet",
    )
    for page, name in (
        *((CALIBRATION, name) for name in in_calibration),
        ("which-gate.md", "rates by size"),
    ):
        stated = re.findall(
            r"([\d,]+) (?:draws|years|histories) per (?:cell|row): two standard errors",
            part(page, name),
        )
        assert stated, name
        assert all(int(count.replace(",", "")) >= 4000 for count in stated), name


def test_one_machine_beats_every_cluster_at_20_million_rows() -> None:
    text = part("reference/speed.md", "scale")
    assert text.startswith("20,000,000 rows, 20,000 queries, 50 parts; ")
    found = rows(text.partition("\n\n")[2])
    here = ("a folder of parts, `evaluate`", "a loop over parts")
    for column in (0, 2):  # CPU seconds, seconds
        others = [float(found[way][column]) for way in here]
        assert float(found["two workers of Dask over parts"][column]) > 2 * max(others)


def test_causes_of_half_of_a_fall_are_named_first_and_innocent_changes_have_none() -> None:
    found = rows(part("messages.md", "named causes"))
    assert [*found] == ["60", "150", "225"]
    for queries, promised in (("60", 65), ("150", 80), ("225", 80)):
        *_, of_all, innocent = map(percent, found[queries])
        assert of_all >= promised
        assert innocent <= 2
