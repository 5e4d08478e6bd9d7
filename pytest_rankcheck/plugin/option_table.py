"""The table of options: a field for each option and ini name, stated once.

pytest's parser, the configuration of a test session and the manual's table are made from it. To add
an option, add a field here and use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_rankcheck.plugin.options import (
    FAILURES,
    GOLDEN_PATHS,
    GRADES,
    LINES,
    PATH,
    PATHS,
    REASON,
    SECONDS,
    SESSION_READING,
    SWITCH,
    TEXT,
    WORDS,
    above_zero,
    flag,
    one_of,
    option,
    option_rows,
    pairs,
    setting,
    whole_number,
)


class Config:
    """The configuration, checked as far as that is possible without loading anything.

    It is not a dataclass, because generating the methods of one with this many fields would cost
    every test session time.
    """

    # --- what is measured

    golden: tuple[Path, ...] = option(
        GOLDEN_PATHS,
        "golden set to test on, a file or a folder (may be given several times)",
        selects_input=True,
    )
    grades: Mapping[str, float] | float | None = setting(
        GRADES,
        "what the codes of golden sets mean, one code=grade per line; or one number, the grade of "
        "every row of tables without grades",
    )
    columns: Mapping[str, str] = setting(
        pairs("query_id=keyword"),
        "columns or keys of golden sets and runs, one per line: query_id=keyword, or web: "
        "query_id=keyword for golden set web",
    )
    attributes: tuple[str, ...] = setting(
        LINES,
        "columns or keys that are attributes of queries, one per line (default: all that qualify)",
    )
    scale: float | None = setting(
        above_zero("the highest grade of the scale, a number above 0"),
        "the highest grade that a document could get, if no judgment has it",
    )
    split: str | None = setting(TEXT, "which judgments of a BEIR folder (default: test)")
    contradictions: str = setting(
        one_of("error", "first", "last", "highest", default="error"),
        "what counts if a document is judged twice: first, last, highest, or error (default)",
    )
    doc_id_lines: tuple[str, ...] = setting(
        LINES,
        "how the ids of documents in golden sets and runs are mapped, one rule per line: lower, "
        "before:#, package.module:function, or web: lower for golden set web",
        name="doc_id",
    )
    lint: bool = flag(
        SWITCH, "check the golden sets for what would mislead a gate, in one test for each"
    )
    lint_lines: tuple[str, ...] = setting(
        LINES,
        "for --rankcheck-lint, one per line: scale=0..3, min_queries=30, or "
        "rule=error|warning|ignore",
        name="lint",
    )
    documents: Path | None = option(
        PATH,
        "all documents that can be ranked, with their attributes: a file or a folder (default: "
        "corpus.jsonl of a BEIR folder)",
    )
    interactions: Path | None = setting(
        PATH,
        "a table with the columns user and item: what each user has interacted with before; "
        "queries have the ids of users",
    )
    sealed: tuple[str, ...] = setting(
        LINES,
        "golden sets whose queries and documents are named in nothing that is printed or written",
    )
    unseal: bool = flag(SWITCH, "show the queries and documents of sealed golden sets")
    sessions: tuple[Path, ...] = option(
        PATHS,
        "session log to measure: a file, folder or pattern (may be given several times)",
        selects_input=True,
    )
    session_reading: Mapping[str, Any] = setting(
        SESSION_READING,
        "how logs are read: keywords of SessionLog.load, one per line, such as first_rank=0",
    )

    session_clusters: str | None = setting(
        TEXT,
        "attribute of sessions whose values are independent units, such as user (default: each "
        "session is one)",
    )

    # --- the ranker and its runs

    ranker: str | None = option(
        TEXT,
        "ranker under test, package.module:name; with () at the end it is called once to make it",
        metavar="MODULE:NAME",
        selects_input=True,
    )
    candidates: Mapping[str, str | Callable[[], object]] = setting(
        pairs("name = package.module:name"),
        "rankers to compare with the one that ships, one name = package.module:name per line",
    )
    leaderboard: bool = flag(
        SWITCH, "rank with rankcheck_candidates too, and compare them with the ranker"
    )
    run: Path | None = option(
        PATH,
        "take the rankings from this run, a folder of its parts, or a folder that "
        "--rankcheck-save-run wrote, instead of calling the ranker",
        selects_input=True,
    )
    save_run: Path | None = flag(
        PATH, "save the run of each golden set in this folder, for --rankcheck-run", metavar="DIR"
    )
    replicates: int = option(
        whole_number(1, 1),
        "rank N times, and let gates allow for how much the means vary; a ranker whose name ends "
        "in () is created anew each time",
        selects_input=True,
    )
    depth: int = setting(
        whole_number(1, 100), "documents to keep in each query's ranking (default: 100)"
    )
    concurrency: int = setting(
        whole_number(1, 8), "queries that an async ranker works on at the same time (default: 8)"
    )
    timeout: float | None = setting(
        SECONDS,
        "time limit in seconds: of async rankers and rankers.http for one query, of "
        "rankers.command for its next answer (default: none)",
    )
    retries: int = setting(
        whole_number(0, 0),
        "how often to retry a query after an error of rankcheck_retry_on (default: 0)",
    )
    retry_on: tuple[str, ...] = setting(
        LINES,
        "errors of the ranker after which to retry, by the names of their classes, one per line",
    )
    failures: str = setting(
        FAILURES,
        "queries that the ranker may fail on after its retries: a number, or 1% (default: 0)",
    )
    executor: str | None = option(
        TEXT,
        "where to rank: processes:4, or package.module:name, which makes an executor (default: in "
        "this process)",
        metavar="EXECUTOR",
    )
    chunk: int = setting(
        whole_number(1, 50),
        "how many queries are sent together to a worker of rankcheck_executor (default: 50)",
    )
    resume: Path | None = flag(
        PATH,
        "keep answers in this folder until a run is complete, to continue after a crash",
        metavar="DIR",
    )
    resume_key: str | None = flag(
        TEXT,
        "for --rankcheck-resume: a text that changes whenever the rankings may change",
        metavar="KEY",
    )
    conventions: Mapping[str, str] = setting(
        pairs("ties=input", takes_words=True),
        "conventions that differ from the default, one name=value per line: "
        "ties=doc_id|input|worst|error, duplicates=error|close_gaps|keep_places, "
        "missing=empty|error, extra=ignore|error, no_relevant=zero|exclude|one|one_in_ndcg, "
        "gain=linear|exponential, divide=relevant|min, own_document=keep|drop; or all those of a "
        "tool: lightgbm, xgboost or catboost",
    )

    # --- metrics and gates

    metrics: tuple[str, ...] = setting(
        LINES,
        "metrics to show in the summary and to record in baselines, gated or not, one per line",
    )
    gate_lines: tuple[str, ...] = setting(
        LINES,
        "gates of assert_not_regressed for tests without a gate, one per line: gate, metric: gate, "
        "set: gate, or set metric: gate",
        name="gate",
    )
    slices: tuple[str, ...] = setting(
        WORDS, "attributes whose slices assert_not_regressed gates if a test gives no by"
    )
    inconclusive: str = setting(
        one_of("pass", "warn", "fail", default="warn"),
        "what to do about an inconclusive verdict: pass, warn (default) or fail",
    )
    plan: bool = flag(
        SWITCH, "show how many queries the margin of each gate needs, also in each slice"
    )
    prove: bool = flag(
        SWITCH, "show which faults of a ranker the gates would block, and how many innocent changes"
    )
    # --- baselines

    approval: str | None = flag(
        REASON,
        "record what is measured now, though it is lower, and write this reason into the baselines",
        name="approve",
    )
    baseline_ref: str | None = flag(
        TEXT, "compare with the baselines of this git commit, such as origin/main", metavar="REF"
    )

    unrun: str = option(
        one_of("ignore", "warn", "fail", default="warn"),
        "what to do about baselines whose gates did not run: ignore, warn (default) or fail; with "
        "--rankcheck-baseline-ref they fail, and warn on the command line excuses skipped tests",
    )

    world: tuple[str, ...] = setting(
        LINES,
        "what was ranked with, recorded in baselines, one per line: a file, folder or pattern in "
        "the project, package:name, or model:features",
    )

    kept_depth: int = setting(
        whole_number(0, 10),
        "how many documents of each ranking a baseline keeps, to show what moved (default 10)",
    )

    unjudged_depth: int = setting(
        whole_number(1, 10),
        "how many documents of each ranking --rankcheck-unjudged looks at (default: 10)",
    )

    # --- given by others

    update: bool = False
    """Whether syrupy's --snapshot-update is given."""
    """Whether only new baselines are written."""
    reports: Mapping[str, Path] = {}
    """The paths of the reports to write, by format."""
    step_summary: Path | None = None
    """The step summary of GitHub Actions, to which a Markdown report is appended."""
    inputs: tuple[str, ...] = ()
    """The command-line options that choose what is measured; suggested commands repeat them."""
    left_out: tuple[str, ...] = ()
    """The golden sets whose environment variable is not set."""

    def __init__(self, **values: Any) -> None:
        defaults = {name: row.kind.default for name, row in option_rows(Config).items()}
        vars(self).update(defaults, **values)

    @property
    def writes_reports(self) -> bool:
        """Whether any report is written."""
        return bool(self.reports) or self.step_summary is not None

    @property
    def hidden(self) -> tuple[str, ...]:
        """The golden sets whose queries and documents must not be named."""
        return () if self.unseal else self.sealed
