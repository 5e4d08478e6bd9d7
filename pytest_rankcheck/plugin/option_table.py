"""The options and ini values, with their help."""

from __future__ import annotations

import pytest

__all__ = [
    "CONCURRENCY",
    "DEFAULT_DEPTH",
    "INCONCLUSIVE",
    "REPORTS",
    "RUN_ENDINGS",
    "SUSPICIOUS",
    "add_options",
]

_GROUP = "rankcheck: ranking regression tests"
DEFAULT_DEPTH = 100
CONCURRENCY = 8
INCONCLUSIVE = ("pass", "warn", "fail")
SUSPICIOUS = ("ignore", "warn", "fail")
REPORTS = {
    "html": "the report as one HTML file, to look at (needs pytest-rankcheck[report])",
    "markdown": "the report as Markdown, such as for a comment on a pull request",
    "json": "the report as JSON, with all queries, for machines",
    "unjudged": "the unjudged documents at the top, most influential first, to be judged: CSV, or "
    "Quepid's form where the name ends with .quepid.csv",
}
"""The reports that can be written, by the ends of their options."""
RUN_ENDINGS = {"trec": ".run", "parquet": ".parquet", "csv": ".csv", "jsonl": ".jsonl"}
"""The endings of the files that --rankcheck-save-run writes."""


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and ini value, with help."""
    group = parser.getgroup("rankcheck", _GROUP)
    group.addoption(
        "--rankcheck-golden",
        action="append",
        default=[],
        metavar="PATH",
        help="golden set to test on, a file or a folder (may be given several times); overrides "
        "rankcheck_golden",
    )
    group.addoption(
        "--rankcheck-sessions",
        action="append",
        default=[],
        metavar="PATH",
        help="session log to measure (may be given several times); overrides rankcheck_sessions",
    )
    group.addoption(
        "--rankcheck-ranker",
        metavar="MODULE:NAME",
        help="ranker under test, a callable from query text to document ids; with () at the end "
        "the name is called once to make it; overrides rankcheck_ranker",
    )
    group.addoption(
        "--rankcheck-run",
        metavar="PATH",
        help="take the rankings from this run, or this folder of --rankcheck-save-run, instead of "
        "calling the ranker",
    )
    group.addoption(
        "--rankcheck-save-run",
        metavar="DIR",
        help="keep the run of each golden set in this folder, for --rankcheck-run",
    )
    group.addoption(
        "--rankcheck-save-run-format",
        metavar="FORMAT",
        choices=list(RUN_ENDINGS),
        help="trec (default; jsonl where ids have white space), parquet, csv or jsonl",
    )
    group.addoption(
        "--rankcheck-repeat",
        metavar="N",
        type=int,
        default=1,
        help="rank N times, and say how much the metrics vary and which rankings changed",
    )
    group.addoption(
        "--rankcheck-lint",
        action="store_true",
        help="look for what in the golden sets would mislead a gate, as one test a golden set: "
        "errors fail it, warnings are shown",
    )
    group.addoption(
        "--rankcheck-baseline-ref",
        metavar="REF",
        help="compare with the baselines of this commit of git, such as origin/main, and list "
        "those that the branch changes",
    )
    group.addoption(
        "--rankcheck-plan",
        action="store_true",
        help="say in the summary how many queries would be needed to see falls of some sizes",
    )
    group.addoption(
        "--rankcheck-resolution",
        action="store_true",
        help="say in the summary and in the reports which changes of rankings the metrics see on "
        "this golden set, and which to gate",
    )
    for name, what in REPORTS.items():
        group.addoption(f"--rankcheck-{name}", metavar="PATH", help=f"write {what}")
    group.addoption(
        "--rankcheck-approve",
        metavar="REASON",
        help="with --snapshot-update: let baselines fall, and write this reason into them",
    )
    parser.addini("rankcheck_golden", "golden sets to test on, relative to this file", "paths")
    parser.addini(
        "rankcheck_grades",
        "what the codes of the golden sets mean, one code=grade a line, such as 1=4",
        "linelist",
    )
    parser.addini(
        "rankcheck_columns",
        "columns of golden sets that are tables, one meaning=name a line, such as query_id=keyword",
        "linelist",
    )
    parser.addini("rankcheck_split", "which judgments of a BEIR folder (default: test)")
    parser.addini(
        "rankcheck_contradictions",
        "what counts where a document is judged twice: first, last, highest, or error (default)",
    )
    parser.addini(
        "rankcheck_lint",
        "for --rankcheck-lint, one a line: scale=0..3, tolerance=0.02, min_queries=30, spread=0.1, "
        "or rule=error|warning|ignore",
        "linelist",
    )
    parser.addini("rankcheck_sessions", "session logs, relative to this file", "paths")
    parser.addini(
        "rankcheck_session_columns",
        "columns of session logs, one meaning=name a line, such as session=sid",
        "linelist",
    )
    parser.addini(
        "rankcheck_session_reading",
        "how session logs are read, one a line: first_rank=0|1, time_unit=s|ms|us|ns, "
        "attributes=group,locale, lenient=true",
        "linelist",
    )
    parser.addini("rankcheck_ranker", "ranker under test, package.module:name")
    parser.addini(
        "rankcheck_depth",
        f"documents that each query is ranked to (default: {DEFAULT_DEPTH})",
        type="int",
        default=DEFAULT_DEPTH,
    )
    parser.addini(
        "rankcheck_concurrency",
        f"queries that an async ranker works on at the same time (default: {CONCURRENCY})",
        type="int",
        default=CONCURRENCY,
    )
    parser.addini("rankcheck_timeout", "seconds that an async ranker has for one query")
    parser.addini(
        "rankcheck_retries",
        "how often a query is tried again after an error of rankcheck_retry_on (default: 0)",
        type="int",
        default=0,
    )
    parser.addini(
        "rankcheck_retry_on",
        "errors of the ranker that are worth another try, by the names of their classes",
        "linelist",
    )
    parser.addini(
        "rankcheck_metrics",
        "metrics to show in the summary and to record in baselines, gated or not, one a line",
        "linelist",
    )
    parser.addini(
        "rankcheck_gate",
        "gates of assert_not_regressed where a test gives none, one a line: gate, metric: gate, "
        "set: gate, or set metric: gate; such as noninferior(margin=0.02)",
        "linelist",
    )
    parser.addini(
        "rankcheck_slices",
        "attributes by whose slices assert_not_regressed gates where a test gives no by",
        "args",
    )
    parser.addini(
        "rankcheck_suspicious",
        "what an improvement is that looks like a leak of judgments into the model: ignore, warn "
        "(default) or fail",
    )
    parser.addini(
        "rankcheck_leak_budget",
        "how far approvals, one after the other, may let a mean fall below the best that was ever "
        "approved, such as 0.03",
    )
    parser.addini(
        "rankcheck_inconclusive",
        "what an inconclusive verdict is: pass, warn (default) or fail",
    )
    parser.addini(
        "rankcheck_conventions",
        "conventions that differ from the default, one name=value a line: ties=doc_id|input|error, "
        "duplicates=error|first, missing=empty|error, extra=ignore|error, no_relevant=zero|exclude",
        "linelist",
    )
