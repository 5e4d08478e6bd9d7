"""Reports of small measurements, and a browser to look at them with."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile import HOSTILE

from pytest_rankcheck import (
    Expectation,
    Gate,
    GoldenSet,
    Run,
    assert_at_least,
    assert_expectations,
    assert_not_regressed,
    evaluate,
)
from pytest_rankcheck.explanation.explanation import Explanation
from pytest_rankcheck.reports.findings import Note, ReportedFinding, Topic
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.report_data import Report, report_of


def made_report(
    rankings: dict[str, list[str]],
    before: dict[str, list[str]],
    golden: GoldenSet,
    *,
    queries: bool = True,
) -> Report:
    """Return the report of two gates and a bound on two runs."""
    now = evaluate(Run.from_dict(rankings), golden)
    then = evaluate(Run.from_dict(before), golden)
    findings: list[ReportedFinding] = []
    for check in (
        lambda: assert_not_regressed(now, then, "nDCG@10", abs=0.01, by="locale"),
        lambda: assert_not_regressed(now, then, "RR", gate=Gate.noninferior(0.001)),
        lambda: assert_at_least(now, "P@1", 0.1),
    ):
        with collecting(detail=True, queries=queries) as ledger, suppress(AssertionError):
            check()
        findings += [finding.with_test("tests/test_it.py::test_it") for finding in ledger]
    findings.append(Note(Topic.MEASURED, "said"))
    return report_of(findings, "pytest -q")


@pytest.fixture(scope="session")
def report() -> Report:
    """The report of 60 queries: 20 got worse and 5 better."""
    return _report(queries=True)


@pytest.fixture
def brief() -> Report:
    """The same report, made for Markdown alone."""
    return _report(queries=False)


def _report(*, queries: bool) -> Report:
    ids = [f"q{index:02}" for index in range(60)]
    golden = GoldenSet.from_dict(
        {query: {f"{query} good": 3, f"{query} fair": 1, f"{query} bad": 0} for query in ids},
        queries={query: f"text of {query}" for query in ids},
        attributes={query: {"locale": "de" if query < "q30" else "en"} for query in ids},
    )
    before = {query: [f"{query} good", f"{query} bad", f"{query} fair"] for query in ids}
    now = dict(before)
    for query in ids[:20]:
        now[query] = [f"{query} new", f"{query} bad", f"{query} good"]
    for query in ids[40:45]:
        now[query] = [f"{query} good", f"{query} fair", f"{query} bad"]
    return made_report(now, before, golden, queries=queries)


@pytest.fixture(scope="session")
def hostile() -> Report:
    """A report with hostile ids, texts, attributes and documents."""
    golden = GoldenSet.from_dict(
        {query: {f"{query}!": 2, query: 1} for query in HOSTILE},
        queries={query: query for query in HOSTILE},
        attributes={query: {"locale": query} for query in HOSTILE},
        name="<img src=x onerror=window.ran=1>",
    )
    before = {query: [f"{query}!", query] for query in HOSTILE}
    now = {query: [f"new {query}", query] for query in HOSTILE}
    report = made_report(now, before, golden)
    expected = [
        Expectation.in_top(1, f"missing {query}", query=query, reason=query) for query in HOSTILE
    ]
    with collecting() as ledger, suppress(AssertionError):
        assert_expectations(Run.from_dict(now), golden, expected)
    # Not by way of the text, in which foreign text is harmless already.
    ledger += [
        Note(Topic.SLICE_MEANS, text, text, Explanation(headline=text, facts=(text,)))
        for text in HOSTILE
    ]
    return replace(report, notes=report.notes + report_of(ledger, "pytest -q").notes)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium, the one of the system."""
    api = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium is installed to look at the HTML report with")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A function that opens a report and returns the page; whatever it complains of fails."""
    from pytest_rankcheck.reports.html_report import html_of

    pages, complaints, loads = [], [], []

    def open_(report: Report, width: int = 1200, scheme: str = "light") -> Any:
        file = tmp_path / f"report-{len(pages)}.html"
        file.write_text(html_of(report), "utf-8")
        page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append("dialog"))
        page.on("request", lambda request: loads.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.wait_for_selector("#chart-scatter svg")
        pages.append(page)
        return page

    yield open_
    for page in pages:
        page.close()
    assert complaints == []
    assert [url for url in loads if not url.startswith(("file:", "data:"))] == []
