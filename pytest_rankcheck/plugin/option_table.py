"""The table of options: a field for each option and ini name, stated once.

pytest's parser, the configuration of a test session and the manual's table are made from it. To
add an option, add a field here, and use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.plugin.option_parsers import (
    SlideChoice,
    changes,
    grades,
    lines,
    number_from,
    pairs,
    path,
    paths,
    reason,
    seconds,
    session_reading,
    slide,
    text,
    whole_number,
    word_from,
)
from pytest_rankcheck.plugin.option_rows import option, option_rows

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.ranking import IncompleteRanks

__all__ = ["RUN_ENDINGS", "Config", "ReportPaths"]

RUN_ENDINGS = {"trec": ".run", "parquet": ".parquet", "csv": ".csv", "jsonl": ".jsonl"}
"""The endings of the files that --rankcheck-save-run writes."""


class ReportPaths(NamedTuple):
    """Where reports are written."""

    by_format: Mapping[str, Path]
    """The paths of the formats that are requested."""
    step_summary: Path | None = None
    """The summary of a step of GitHub Actions, to which Markdown is appended."""

    @property
    def wanted(self) -> bool:
        """Whether any report is written."""
        return bool(self.by_format) or self.step_summary is not None


class Config:
    """The configuration, checked as far as that is possible without loading anything.

    It does not change once it is made. It is not a dataclass, because generating the methods of
    one with this many fields would cost every test session time.
    """

    # --- what is measured

    golden: tuple[Path, ...] = option(
        (),
        "golden set to test on, a file or a folder (may be given several times)",
        flag="--rankcheck-golden",
        metavar="PATH",
        repeated=True,
        ini="rankcheck_golden",
        ini_type="paths",
        parse=paths,
        selects_input=True,
        guide="golden-sets.md",
    )
    grades: Mapping[str, float] | float | None = option(
        None,
        "what the codes of the golden sets mean, one code=grade per line, such as 1=4; or one "
        "number, the grade of every row of tables without grades",
        ini="rankcheck_grades",
        ini_type="linelist",
        parse=grades,
        guide="formats.md",
    )
    columns: Mapping[str, str] = option(
        {},
        "columns of golden sets that are tables, one meaning=name per line, such as "
        "query_id=keyword",
        ini="rankcheck_columns",
        ini_type="linelist",
        parse=pairs("query_id=keyword"),
        guide="formats.md#tables-csv-tsv-parquet",
    )
    attributes: tuple[str, ...] = option(
        (),
        "the columns or keys of golden sets that are attributes of queries, one per line (default: "
        "all that can be)",
        ini="rankcheck_attributes",
        ini_type="linelist",
        parse=lines,
        guide="golden-sets.md#attributes",
    )
    scale: float | None = option(
        None,
        "the highest grade that a document could get, where no judgment of the golden sets has it",
        ini="rankcheck_scale",
        parse=number_from(0, "the highest grade of the scale, a number above 0"),
        guide="golden-sets.md#the-scale-of-the-grades",
    )
    split: str | None = option(
        None,
        "which judgments of a BEIR folder (default: test)",
        ini="rankcheck_split",
        parse=text,
        guide="formats.md",
    )
    contradictions: str = option(
        "error",
        "what counts where a document is judged twice: first, last, highest, or error (default)",
        ini="rankcheck_contradictions",
        parse=lambda given: given.value or "error",
        guide="golden-sets.md",
    )
    doc_id_lines: tuple[str, ...] = option(
        (),
        "how the ids of documents in golden sets and runs are mapped, one rule per line, such as "
        "lower, before:# or package.module:function",
        ini="rankcheck_doc_id",
        ini_type="linelist",
        parse=lines,
        guide="golden-sets.md#when-no-id-meets",
    )
    lint: bool = option(
        False,
        "check the golden sets and session logs for what would mislead a gate, in one test for "
        "each: errors fail the test, warnings are shown",
        flag="--rankcheck-lint",
        guide="golden-sets.md#what-is-wrong-with-a-golden-set",
    )
    lint_lines: tuple[str, ...] = option(
        (),
        "for --rankcheck-lint, one per line: scale=0..3, tolerance=0.02, metric=nDCG@10 (default: "
        "the first gated metric), min_queries=30, spread=0.1 (default: as measured for the "
        "metric), or rule=error|warning|ignore",
        ini="rankcheck_lint",
        ini_type="linelist",
        parse=lines,
        guide="golden-sets.md#what-is-wrong-with-a-golden-set",
    )
    corpus: Path | None = option(
        None,
        "for --rankcheck-lint, the documents that are ranked: a file or a folder (JSON lines, CSV, "
        "TSV, Parquet, Arrow, or one id per line), read in parts (default: corpus.jsonl of a BEIR "
        "folder)",
        flag="--rankcheck-corpus",
        metavar="PATH",
        ini="rankcheck_corpus",
        ini_type="paths",
        parse=path,
        guide="golden-sets.md#with-the-corpus",
    )
    sessions: tuple[Path, ...] = option(
        (),
        "session log to measure: a file; or, for one log in several files, a folder or a pattern "
        "such as 'logs/2026-11-*.jsonl' (may be given several times)",
        flag="--rankcheck-sessions",
        metavar="PATH",
        repeated=True,
        ini="rankcheck_sessions",
        ini_type="paths",
        parse=paths,
        selects_input=True,
        guide="sessions.md",
    )
    session_columns: Mapping[str, str] = option(
        {},
        "columns of session logs, one meaning=name per line, such as session=sid",
        ini="rankcheck_session_columns",
        ini_type="linelist",
        parse=pairs("session=sid"),
        guide="sessions.md#reading-a-log",
    )
    session_reading: Mapping[str, object] = option(
        {},
        "how session logs are read, one per line: first_rank=0|1, time_unit=s|ms|us|ns, "
        "attributes=group,locale, selections_where=action_name:click, "
        "grades=add_to_cart:2,purchase:3, session_gap=30min, duplicates=error|drop|keep, "
        "drop_sessions_over=500, lenient=true",
        ini="rankcheck_session_reading",
        ini_type="linelist",
        parse=session_reading,
        guide="sessions.md#reading-a-log",
    )

    session_clusters: str | None = option(
        None,
        "attribute of sessions whose values are independent units, such as user; without it, each "
        "session is one",
        ini="rankcheck_session_clusters",
        parse=text,
        guide="sessions.md#users-not-sessions-are-independent",
    )

    # --- the ranker and its runs

    ranker: str | None = option(
        None,
        "ranker under test, package.module:name, a callable from query text to document ids; with "
        "() at the end the name is called once to make the ranker",
        flag="--rankcheck-ranker",
        metavar="MODULE:NAME",
        ini="rankcheck_ranker",
        parse=text,
        selects_input=True,
        guide="rankers.md",
    )
    run: Path | None = option(
        None,
        "take the rankings from this run, a folder of its parts, or a folder that "
        "--rankcheck-save-run wrote, instead of calling the ranker; a ranker or run on the command "
        "line overrides either one in the configuration file",
        flag="--rankcheck-run",
        metavar="PATH",
        ini="rankcheck_run",
        ini_type="paths",
        parse=path,
        selects_input=True,
        guide="rankers.md",
    )
    incomplete_ranks: IncompleteRanks = option(
        "error",
        "a gap or a repeat in the ranks of a run that is a table without scores: error (default), "
        "or close_gaps if the ranks give only the order",
        ini="rankcheck_incomplete_ranks",
        parse=word_from(("error", "close_gaps"), "error"),
        guide="formats.md#runs",
    )
    save_run: Path | None = option(
        None,
        "save the run of each golden set in this folder, for --rankcheck-run",
        flag="--rankcheck-save-run",
        metavar="DIR",
        parse=path,
        guide="rankers.md",
    )
    save_run_format: str | None = option(
        None,
        "trec (default; jsonl where ids have white space), parquet, csv or jsonl",
        flag="--rankcheck-save-run-format",
        metavar="FORMAT",
        choices=tuple(RUN_ENDINGS),
        guide="formats.md",
    )
    repeat: int = option(
        1,
        "rank N times, and show how much the metrics vary and which rankings changed",
        flag="--rankcheck-repeat",
        metavar="N",
        parse=whole_number(1),
        guide="rankers.md",
    )
    depth: int = option(
        100,
        "documents to keep in each query's ranking (default: 100)",
        ini="rankcheck_depth",
        ini_type="int",
        parse=whole_number(1),
        guide="rankers.md",
    )
    check_depth: int = option(
        0,
        "when the ranker is asked, ask up to 20 queries once more for N documents, such as the "
        "depth that production uses, and warn if the top differs (default: 0, which means never)",
        flag="--rankcheck-check-depth",
        metavar="N",
        ini="rankcheck_check_depth",
        parse=lambda given: whole_number(0)(given) if given.value else 0,
        guide="behaviour.md#the-same-top-at-every-depth",
    )
    concurrency: int = option(
        8,
        "queries that an async ranker works on at the same time (default: 8)",
        ini="rankcheck_concurrency",
        ini_type="int",
        parse=whole_number(1),
        guide="rankers.md",
    )
    timeout: float | None = option(
        None,
        "seconds that an async ranker or rankers.http has for one query (default: no limit); an "
        "error for other rankers, which cannot be stopped",
        ini="rankcheck_timeout",
        parse=seconds,
        guide="rankers.md",
    )
    retries: int = option(
        0,
        "how often to retry a query after an error of rankcheck_retry_on (default: 0)",
        ini="rankcheck_retries",
        ini_type="int",
        parse=whole_number(0),
        guide="rankers.md",
    )
    retry_on: tuple[str, ...] = option(
        (),
        "errors of the ranker after which to retry, by the names of their classes, one per line",
        ini="rankcheck_retry_on",
        ini_type="linelist",
        parse=lines,
        guide="rankers.md",
    )
    executor: str | None = option(
        None,
        "where to rank: processes:4, dask:tcp://scheduler:8786, or package.module:name, a function "
        "that makes an executor of concurrent.futures (default: in this process)",
        flag="--rankcheck-executor",
        metavar="EXECUTOR",
        ini="rankcheck_executor",
        parse=text,
        guide="rankers.md#on-several-processes-or-machines",
    )
    chunk: int = option(
        50,
        "how many queries are sent together to a worker of rankcheck_executor, or kept together by "
        "--rankcheck-resume (default: 50)",
        ini="rankcheck_chunk",
        ini_type="int",
        parse=whole_number(1),
        guide="rankers.md#on-several-processes-or-machines",
    )
    resume: Path | None = option(
        None,
        "keep answers in this folder until a run is complete, to continue after a crash or a time "
        "limit",
        flag="--rankcheck-resume",
        metavar="DIR",
        parse=path,
        guide="rankers.md#resuming",
    )
    resume_key: str | None = option(
        None,
        "for --rankcheck-resume: a text that changes whenever the rankings may change, such as the "
        "build of an index; required outside git, and for rankers that call services or read files "
        "that are neither in git nor in rankcheck_world",
        flag="--rankcheck-resume-key",
        metavar="KEY",
        parse=text,
        guide="rankers.md#resuming",
    )
    conventions: Mapping[str, str] = option(
        {},
        "conventions that differ from the default, one name=value per line: "
        "ties=doc_id|input|error, duplicates=error|close_gaps|keep_places, missing=empty|error, "
        "extra=ignore|error, no_relevant=zero|exclude",
        ini="rankcheck_conventions",
        ini_type="linelist",
        parse=pairs("ties=input"),
        guide="metrics.md#conventions",
    )

    # --- metrics and gates

    metrics: tuple[str, ...] = option(
        (),
        "metrics to show in the summary and to record in baselines, gated or not, one per line",
        ini="rankcheck_metrics",
        ini_type="linelist",
        parse=lines,
        guide="metrics.md",
    )
    gate_lines: tuple[str, ...] = option(
        (),
        "gates of assert_not_regressed for tests without a gate, one per line: gate, metric: gate, "
        "set: gate, or set metric: gate; such as noninferior(margin=0.02)",
        ini="rankcheck_gate",
        ini_type="linelist",
        parse=lines,
        guide="gates.md#gates",
    )
    slices: tuple[str, ...] = option(
        (),
        "attributes by whose slices assert_not_regressed gates where a test gives no by",
        ini="rankcheck_slices",
        ini_type="args",
        parse=lines,
        guide="gates.md#slices",
    )
    suspicious: str = option(
        "warn",
        "what to do about an improvement that looks like a leak of judgments into the model: "
        "ignore, warn (default) or fail",
        ini="rankcheck_suspicious",
        parse=word_from(("ignore", "warn", "fail"), "warn"),
        guide="gates.md#improvements-that-are-too-good",
    )
    inconclusive: str = option(
        "warn",
        "what to do about an inconclusive verdict: pass, warn (default) or fail",
        ini="rankcheck_inconclusive",
        parse=word_from(("pass", "warn", "fail"), "warn"),
        guide="gates.md#gates",
    )
    plan: bool = option(
        False,
        "show how many queries would be needed to detect falls of some sizes",
        flag="--rankcheck-plan",
        guide="gates.md#what-if-the-labels-are-wrong-and-how-many-queries-are-enough",
    )
    resolution: bool = option(
        False,
        "show which changes of rankings the metrics see on this golden set, and which metrics to "
        "gate",
        flag="--rankcheck-resolution",
        guide="metric-laws.md#what-this-golden-set-can-see",
    )

    # --- baselines

    approval: str | None = option(
        None,
        "with --snapshot-update: let baselines fall, and write this reason into them",
        flag="--rankcheck-approve",
        metavar="REASON",
        parse=reason,
        guide="baselines.md#a-register-of-approved-lines",
    )
    raising: str | None = option(
        None,
        "with --snapshot-update: raise baselines although the gain is within noise, and write this "
        "reason into them",
        flag="--rankcheck-raise",
        metavar="REASON",
        parse=reason,
        guide="baselines.md#a-register-of-approved-lines",
    )
    leak_budget: float | None = option(
        None,
        "how far approvals together may let a mean fall below the best that was ever approved, "
        "such as 0.03",
        ini="rankcheck_leak_budget",
        parse=number_from(0, "a number from 0 on, such as 0.03: how far a mean may fall"),
        guide="baselines.md#a-register-of-approved-lines",
    )
    slide: SlideChoice = option(
        SlideChoice(),
        "what to do when many small falls have added up to more than noise explains, though each "
        "passed its gate: off, warn (default) or fail; with another share of innocent sequences "
        "of changes to stop than 10%: fail(alpha=0.2)",
        ini="rankcheck_slide",
        parse=slide,
        guide="baselines.md#small-falls-that-add-up",
    )
    slide_steps: int | None = option(
        None,
        "for rankcheck_slide where git has no history: how many changes were merged since the "
        "baselines were last raised",
        ini="rankcheck_slide_steps",
        parse=changes,
        guide="baselines.md#small-falls-that-add-up",
    )
    baseline_ref: str | None = option(
        None,
        "compare with the baselines of this git commit, such as origin/main, and list those that "
        "the branch changes",
        flag="--rankcheck-baseline-ref",
        metavar="REF",
        guide="baselines.md#in-ci-what-the-target-branch-has-approved",
    )

    unrun: str = option(
        "warn",
        "what to do about baselines whose gates did not run: ignore, warn (default) or fail; with "
        "--rankcheck-baseline-ref the configuration of that commit counts, and fail is the default",
        ini="rankcheck_unrun",
        parse=word_from(("ignore", "warn", "fail"), "warn"),
        guide="baselines.md#gates-that-did-not-run",
    )

    world: tuple[str, ...] = option(
        (),
        "what was ranked with, recorded in baselines, one per line: a file, folder or pattern "
        "relative to the root of the project, such as index/stats.json, or package:name",
        ini="rankcheck_world",
        ini_type="linelist",
        parse=lines,
        guide="baselines.md#what-was-ranked-with",
    )

    # --- reports; each format has an option of its own too

    added_reports: Mapping[str, str] = option(
        {},
        "write a report in a format that an extension adds (may be given several times)",
        flag="--rankcheck-report",
        metavar="NAME=PATH",
        repeated=True,
        parse=pairs("chat=report.txt"),
        guide="extending.md",
    )

    # --- given by others

    update: bool = False
    """Whether syrupy's --snapshot-update is given."""
    new_only: bool = False
    """Whether only new baselines are written."""
    reports: ReportPaths = ReportPaths({})
    inputs: tuple[str, ...] = ()
    """The options of the command line that choose what is measured, to be given again."""

    def __init__(self, **values: Any) -> None:
        defaults = {name: row.default for name, row in option_rows(Config).items()}
        vars(self).update(defaults, **values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"the configuration does not change: {name}")

    @property
    def header(self) -> str | None:
        """The line for the head of pytest's output; None where nothing is configured."""
        parts = []
        if self.golden:
            names = ", ".join(quoted(path.name) for path in self.golden)
            parts.append(f"golden {names}")
        if self.run:
            parts.append(f"run {quoted(self.run.name)}")
        elif self.ranker:
            parts.append(f"ranker {quoted(self.ranker)}")
        return f"rankcheck: {', '.join(parts)}, depth {self.depth}" if parts else None
