"""The HTML report, driven in a real browser."""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hostile import HOSTILE

from pytest_rankcheck import GoldenSet, Run, assert_at_least, evaluate
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.reports.html_report import html_of
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.markdown_report import markdown_of
from pytest_rankcheck.reports.report_data import Report, report_of
from pytest_rankcheck.reports.text.failure_text import failure_lines

Opened = Callable[..., Any]


def texts(page: Any, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).all_inner_texts()
    return found


@pytest.mark.browser
def test_verdicts_come_first_and_charts_are_drawn(opened: Opened, report: Report) -> None:
    page = opened(report)
    assert texts(page, "h1, .badge") == ["Ranking quality", "3 of 5 gates failed"]
    rows = texts(page, "#verdicts tbody tr")
    assert "regressed" in rows[0]
    assert "nDCG@10" in rows[0]
    page.wait_for_selector("#chart-gates svg")
    page.wait_for_selector("[data-slices] svg")
    assert "golden set\trun\t60\tRR\t1.0000\t0.7778" in texts(page, "#measurements table")[0]
    assert "locale=de" in texts(page, "#slices tbody tr")[0]
    assert texts(page, "header pre") == ["pytest -q"]
    assert "RR regressed" in texts(page, "#failures > details > summary")[1]
    for chart in ("differences", "bars", "scatter"):
        assert page.locator(f"#chart-{chart} svg").count() == 1


@pytest.mark.browser
def test_queries_are_filtered_sorted_and_searched(opened: Opened, report: Report) -> None:
    page = opened(report)
    assert texts(page, "#count") == ["60 of 60 queries: 20 worse, 5 better, 35 equal"]
    assert texts(page, "#rows button.open")[0] in {f"q{i:02}" for i in range(20)}
    page.select_option("#kind", "better")
    assert texts(page, "#count") == ["5 of 60 queries: 0 worse, 5 better, 0 equal"]
    page.select_option("#kind", "")
    page.select_option("#attribute", "locale=en")
    assert texts(page, "#count") == ["30 of 60 queries: 0 worse, 5 better, 25 equal"]
    page.select_option("#attribute", "")
    page.fill("#search", "TEXT q07")
    page.wait_for_selector("#count:text-matches('^1 of 60')")
    assert texts(page, "#rows button.open") == ["q07"]
    page.fill("#search", "")
    page.wait_for_selector("#count:text-matches('^60 of')")
    page.get_by_role("button", name="query", exact=True).click()
    assert texts(page, "#rows button.open")[:2] == ["q00", "q01"]
    page.get_by_role("button", name="query", exact=True).click()
    assert texts(page, "#rows button.open")[:2] == ["q59", "q58"]
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("query")
    page.click("#more")
    assert page.locator("#rows button.open").count() == 60


@pytest.mark.browser
def test_a_query_opens_to_its_two_rankings(opened: Opened, report: Report) -> None:
    page = opened(report)
    page.fill("#search", "q03")
    page.wait_for_selector("#count:text-matches('^1 of 60')")
    button = page.locator("#rows button.open")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    before, now = (
        page.locator("#rows .rankings ol").nth(place).locator("li").all_inner_texts()
        for place in (0, 1)
    )
    assert before[0].replace("\n", " ") == "1. q03 good grade 3"
    assert before[2].replace("\n", " ") == "3. q03 fair grade 1 · left"
    assert now[0].replace("\n", " ") == "1. q03 new unjudged · entered"
    assert now[2].replace("\n", " ") == "3. q03 good grade 3 · moved 1 → 3"
    page.locator("#rows .rankings line").nth(1).wait_for(state="attached")
    assert page.locator("#rows .rankings line.down").count() == 1
    page.keyboard.press("Enter")
    assert page.locator("#rows .rankings").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.browser
def test_the_report_fits_a_phone_and_is_accessible(
    opened: Opened, report: Report, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(report, width, scheme)
    page.locator("#rows button.open").first.click()
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page)
    violations = [
        f"{one['id']}: {[node['html'][:150] for node in one['nodes'][:3]]}"
        for one in found.response["violations"]
    ]
    assert violations == []


BROKEN_NAMES = """() => [...document.querySelectorAll("#verdicts .name, #verdicts .id")].filter((cell) => {
    const lines = cell.querySelectorAll("wbr").length + 1, range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].map((box) => box.top)).size > lines;
})"""
BEYOND = """() => [...document.querySelectorAll(".chart text, .chart svg")].filter(
    (part) => part.getBoundingClientRect().right > innerWidth
).map((part) => part.textContent)"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [1200, 400])
def test_a_phone_shows_what_counts_and_no_name_is_broken(
    opened: Opened, report: Report, width: int
) -> None:
    changed = {
        "metric": "nDCG(gain=exponential)@10",
        "test": "tests/test_ranking.py::test_that_says_in_its_name_what_it_is_about",
    }
    gates = tuple(replace(gate, **changed) for gate in report.gates)
    page = opened(replace(report, gates=gates), width)
    table = page.locator("#verdicts .scroll").first
    heads = table.locator("th:visible").all_inner_texts()
    phone = ["verdict", "metric", "now", "change"]
    assert heads == phone if width == 400 else set(phone) < set(heads)
    assert page.evaluate(BROKEN_NAMES) == []
    assert page.evaluate(BEYOND) == []
    if width == 400:
        assert table.evaluate("box => box.scrollWidth <= box.clientWidth")


@pytest.mark.browser
def test_untrusted_text_is_shown_and_not_run(opened: Opened, hostile: Report) -> None:
    page = opened(hostile)
    for button in page.locator("#rows button.open").all():
        button.click()
    page.locator("#chart-bars .mark-rect path").first.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert page.locator("#vg-tooltip-element img, #vg-tooltip-element script").count() == 0
    assert page.evaluate("window.ran") is None
    assert page.locator("main img, main iframe, main script, main a[href*=evil]").count() == 0
    shown = set(texts(page, "#rows button.open"))
    assert quoted(HOSTILE[0], 500) in shown
    assert len(shown) == len(HOSTILE)
    assert "49" not in " ".join(texts(page, "#verdicts, #failures, #slices"))


def test_the_page_begins_with_what_fell_and_why_and_then_says_what_to_type(report: Report) -> None:
    page = html_of(report)
    head = page[page.index("<h1>") : page.index('<nav aria-label="Sections">')]
    shown = " ".join(unescape(re.sub("<[^>]*>", " ", head)).split())
    assert "3 of 5 gates failed nDCG@10 regressed on golden set" in shown
    assert "in common: 20 of 20 are locale=de (50% of all are)" in shown
    assert shown.index("in common") < shown.index("To reproduce, type: pytest -q")


def test_a_failure_is_shown_by_its_values_and_its_text(report: Report) -> None:
    """Without JavaScript."""
    page = html_of(report)
    section = page[page.index('<section id="failures"') : page.index('<section id="measurements"')]
    shown = " ".join(unescape(re.sub("<[^>]*>", " ", section)).split())
    for part in (
        "nDCG@10 0.9639 → 0.7833 (60 queries) Change -0.1806, 95% interval -0.2488 to -0.1124",
        "Queries 20 worse, 5 better, 35 equal Gate tolerance(abs=0.01, rel=0)",
        "verdict locale=de 30 0.9639 0.5967 -0.3672",
        "-0.3672 -0.4658 to -0.2686 regressed locale=en 30",
        "q00 text of q00 0.964 → 0.413 Baseline 1. q00 good grade 3 2. q00 bad grade 0",
        "3. q00 fair grade 1 · left Now 1. q00 new unjudged · entered 2. q00 bad grade 0",
        "3. q00 good grade 3 · moved 1 → 3 Relevant, not in this top now: q00 fair (grade 1) 3 → not",
        "ranked q01 text of q01",
    ):
        assert part in shown
    for gate in report.gates:
        if gate.failure:
            for line in failure_lines(gate.failure, in_full=True):
                assert " ".join(line.split()) in shown, line


def test_documents_below_the_top_are_named_with_their_rank() -> None:
    golden = GoldenSet.from_dict({f"q{i}": {"deep": 2} for i in range(5)})
    run = {f"q{i}": [*(f"x{n}" for n in range(11)), "deep"] for i in range(5)}
    with collecting(detail=True) as ledger, pytest.raises(AssertionError):
        assert_at_least(evaluate(Run.from_dict(run), golden), "RR", 0.9)
    assert (
        """Relevant, not in this top now: <span class="id">deep</span> (grade 2) 12"""
        in html_of(report_of(ledger, ""))
    )


def test_the_library_of_charts_is_only_in_pages_that_have_one(report: Report) -> None:
    golden = GoldenSet.from_dict({f"q{i}": {"d": 2} for i in range(5)})
    with collecting(detail=True) as ledger:
        assert_at_least(evaluate(Run.from_dict({"q1": ["d"]}), golden), "RR", 0.1)
    bound = html_of(report_of(ledger, ""))
    assert len(bound) < 100_000 < 900_000 < len(html_of(report))
    assert bound.count("<script>") + 1 == html_of(report).count("<script>")


def test_a_command_is_never_cut(report: Report) -> None:
    command = f"pytest {'x' * 3000} 'y'"
    page, text = (
        html_of(replace(report, command=command)),
        markdown_of(replace(report, command=command)),
    )
    assert unescape(page).count(f">{command}<") == 2
    assert f"\n{command}\n" in text


def test_the_policy_of_the_page_allows_its_own_scripts_and_style_only(report: Report) -> None:
    page = html_of(report)
    policy = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert len(policy) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in unescape(policy[0]).split(";"))
    assert rules.pop("script-src").split() == [
        hash_of(code) for code in re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    ]
    assert rules.pop("style-src").split() == [
        hash_of(style) for style in re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    ]
    assert rules == {
        "default-src": "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(
        r"<[^>]*\s(on\w+|style)=", re.sub(r"<script.*?</script>", "", page, flags=re.S)
    )


def hash_of(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@pytest.mark.browser
def test_a_script_that_is_not_ours_does_not_run(
    chromium: Any, report: Report, tmp_path: Path
) -> None:
    """Neither a script in the page, nor a handler, nor a changed script of ours, nor eval."""
    code = html_of(report).replace("</main>", "<script>window.ran=1</script></main>")
    code = code.replace("</main>", '<img src="data:," onerror="window.ran=1"></main>')
    code = code.replace("<body>", '<body onload="window.ran=1">')
    (tmp_path / "report.html").write_text(code, "utf-8")
    page = chromium.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    page.evaluate("setTimeout('window.ran=1', 0)")
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    changed = html_of(report).replace('"use strict";', '"use strict"; window.ran=1;')
    (tmp_path / "changed.html").write_text(changed, "utf-8")
    page.goto((tmp_path / "changed.html").as_uri())
    assert page.evaluate("window.ran") is None
    assert page.locator("html[data-ready]").count() == 0
    page.close()


def test_the_size_of_the_report_is_bounded(report: Report) -> None:
    """A thousand queries with ten documents of 40 characters on both sides: at most 5 MB."""
    docs = [f"a document with an id of some length {i:04}" for i in range(20)]
    [measurement] = report.measurements
    tops = {"before": docs[:10], "now": docs[10:], "grades": dict.fromkeys(docs, 1.0)}
    queries = [{**measurement["queries"][0], **tops, "id": f"q{i}"} for i in range(1000)]
    large = replace(report, measurements=({**measurement, "queries": queries},))
    assert len(html_of(large).encode()) < 5_000_000


def test_a_report_without_slices_says_how_to_get_them(report: Report) -> None:
    gates = [replace(gate, numbers=replace(gate.numbers, slices=())) for gate in report.gates]
    assert "No gate uses slices" in html_of(replace(report, gates=tuple(gates)))
