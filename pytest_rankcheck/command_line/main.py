"""``python -m pytest_rankcheck``: comparing, showing and linting without a test session."""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_rankcheck.assertions.regression_assertion import assert_not_regressed
from pytest_rankcheck.baselines.recorded_evaluation import measured_from, record_in, recorded
from pytest_rankcheck.errors import ConfigurationError, RankcheckError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.laws.metric_card import card_of
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS, Metric
from pytest_rankcheck.metrics.metric_registry import Definition, definition, definitions
from pytest_rankcheck.reports.ledger import Entry, Ledger, collecting, enter
from pytest_rankcheck.reports.text.lint_text import lint_text
from pytest_rankcheck.reports.text.resolution_text import (
    ideal_resolution_entries,
    resolution_entries,
)
from pytest_rankcheck.reports.text.summary_table import summary_lines
from pytest_rankcheck.reports.text.wording import number

__all__ = ["main"]

PASSED, BLOCKED, WRONG = 0, 1, 2
"""The exit codes: the gate passed, it blocked, or it could not be asked."""

_EPILOG = """examples:
  python -m pytest_rankcheck compare main.run branch.run --golden golden/web.jsonl
  python -m pytest_rankcheck compare tests/baselines/test_ranking/test_mrr.json new.run \\
      --golden golden/web.jsonl --gate "noninferior(margin=0.02)" --by locale --html report.html
  python -m pytest_rankcheck show new.run --golden golden/web.jsonl --metric nDCG@10 --by locale
  python -m pytest_rankcheck lint golden/web.jsonl
  python -m pytest_rankcheck metrics nDCG
  python -m pytest_rankcheck --import conftest metrics Revenue

exit codes: 0 passed, 1 the gate blocks (or the linter found errors), 2 wrong usage or input"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = chosen.run
    try:
        for module in chosen.imported:
            _import(module)
        return run(chosen)
    except RankcheckError as error:
        print(f"{parser.prog} {chosen.command}: {error}{_hint(error, chosen)}", file=sys.stderr)
        return WRONG
    except BrokenPipeError:
        # Whoever read, as `head` does, has seen enough.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pytest_rankcheck",
        description="Compare, show and lint rankings and golden sets without a test session.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--import",
        dest="imported",
        action="append",
        default=[],
        metavar="MODULE",
        help="import a module that registers metrics of yours, such as conftest",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    compare = commands.add_parser("compare", help="hold a ranking against an earlier one")
    compare.add_argument("old", type=Path, help="a run, a baseline, or a JSON report")
    compare.add_argument("new", type=Path, help="a run, a baseline, or a JSON report")
    compare.add_argument(
        "--gate",
        default="tolerance()",
        help='the rule that decides, such as "noninferior(margin=0.02)"; without it nothing may '
        "fall",
    )
    compare.add_argument(
        "--inconclusive",
        choices=("pass", "warn", "fail"),
        default="warn",
        help="whether a verdict that cannot tell blocks (default: warn)",
    )
    for name in ("html", "markdown", "json"):
        compare.add_argument(f"--{name}", type=Path, metavar="PATH", help="write the report")
    compare.set_defaults(run=_compare)
    show = commands.add_parser("show", help="show the means of a run, a baseline or a report")
    show.add_argument("file", type=Path, help="a run, a baseline, or a JSON report")
    show.set_defaults(run=_show)
    for command in (compare, show):
        command.add_argument(
            "--golden", type=Path, required=command is compare, help="the golden set"
        )
        command.add_argument(
            "--metric",
            action="append",
            metavar="NAME",
            help="a metric, such as nDCG@10 (may be given several times; default: those of the "
            f"baseline, else {' and '.join(USUAL_METRICS)})",
        )
        command.add_argument(
            "--by", action="append", default=[], metavar="ATTRIBUTE", help="look at its slices too"
        )
    lint = commands.add_parser("lint", help="look for what in golden sets would mislead a gate")
    lint.add_argument("golden", type=Path, nargs="+", help="golden sets")
    lint.set_defaults(run=_lint)
    metrics = commands.add_parser("metrics", help="the catalogue of metrics, or one of them")
    metrics.add_argument(
        "name",
        nargs="?",
        help="a metric or an alias, such as nDCG or MRR, or nDCG(gain=exponential)@10",
    )
    metrics.set_defaults(run=_metrics)
    return parser


def _import(name: str) -> None:
    """Import a module that was asked for, from the working directory too."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        importlib.import_module(name)
    except RankcheckError:
        raise
    except Exception as failure:
        raise ConfigurationError(
            f"--import {quoted(name)}: {type(failure).__name__}: {quoted(failure)}; give the name "
            "of a module, such as conftest or tests.conftest"
        ) from None


def _hint(error: RankcheckError, chosen: argparse.Namespace) -> str:
    """Return what to do about a metric that a test session would know."""
    if "unknown metric" not in str(error) or chosen.imported:
        return ""
    return "; a metric of your own is known after --import MODULE, the module that registers it"


def _print_summary(ledger: Ledger) -> None:
    """Print the table, as wide as the terminal; in a pipe or a file, as wide as it is."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in summary_lines(ledger, width):
        print(line.text)


# --- compare ---------------------------------------------------------------------------------


def _compare(chosen: argparse.Namespace) -> int:
    golden = GoldenSet.load(chosen.golden)
    gate = gate_of(chosen.gate)
    new, old = measured_from(chosen.new, golden), measured_from(chosen.old, golden)
    metrics = _chosen_metrics(chosen, chosen.old, golden.name)
    for difference in _differences(old, new):
        print(f"not measured alike: {difference}", file=sys.stderr)
    with collecting(detail=True) as ledger:
        for metric in metrics:
            _hold(new, old, metric, gate, chosen.by)
    for entry in ledger:
        entry.get("detail", {})["test"] = f"{chosen.old.name} -> {chosen.new.name}"
    _print_summary(ledger)
    _write(chosen, ledger)
    untold = any(entry.get("verdict") == "inconclusive" for entry in ledger)
    failed = any(entry.get("failed") for entry in ledger)
    return BLOCKED if failed or (untold and chosen.inconclusive == "fail") else PASSED


def _differences(old: Evaluation, new: Evaluation) -> Iterator[str]:
    """Yield the conventions, and the depth where both are known, in which two differ."""
    then, now = old.conventions.to_dict(), new.conventions.to_dict()
    depths = old.run.depth, new.run.depth
    if None not in depths:
        then["depth"], now["depth"] = map(str, depths)
    for name, value in then.items():
        if now[name] != value:
            yield f"{name} is '{value}' in the old, '{now[name]}' in the new"


def _hold(new: Evaluation, old: Evaluation, metric: Metric, gate: Gate, by: Sequence[str]) -> None:
    """Hold one metric; print why it fails, if it does."""
    try:
        assert_not_regressed(new, old, metric, gate=gate, by=by)
    except AssertionError as failure:
        print(f"{failure}\n")


def _chosen_metrics(chosen: argparse.Namespace, path: Path, golden_name: str) -> list[Metric]:
    """Return the metrics that were asked for, else those of a record, else the usual ones."""
    names: Sequence[str] = chosen.metric or ()
    if not names:
        record = record_in(path, golden_name)
        names = record.gated if record else USUAL_METRICS
    return [Metric.parse(name) for name in names]


def _write(chosen: argparse.Namespace, ledger: Ledger) -> None:
    """Write the reports that were asked for."""
    from pytest_rankcheck.reports.json_report import json_of
    from pytest_rankcheck.reports.markdown_report import markdown_of
    from pytest_rankcheck.reports.report_data import report_of

    paths = {name: getattr(chosen, name) for name in ("html", "markdown", "json")}
    if not any(paths.values()):
        return
    command = f"python -m pytest_rankcheck {shlex.join(sys.argv[1:])}"
    report = report_of(ledger, command)
    for name, path in paths.items():
        if path is None:
            continue
        try:
            if name == "html":
                text = _html(report)
            else:
                text = markdown_of(report) if name == "markdown" else json_of(report)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        except OSError as failure:
            why = failure.strerror or failure
            raise ConfigurationError(
                f"the report cannot be written to {quoted(path)}: {why}"
            ) from None
        print(f"report written to {quoted(path, 300)}")


def _html(report: dict[str, object]) -> str:
    try:
        from pytest_rankcheck.reports.html.html_report import html_of

        return html_of(report)
    except ImportError as missing:
        raise ConfigurationError(
            f"--html needs {missing.name}, which is not installed: "
            "pip install 'pytest-rankcheck[report]'"
        ) from None


# --- show ------------------------------------------------------------------------------------


def _show(chosen: argparse.Namespace) -> int:
    if not chosen.file.exists():
        raise ConfigurationError(f"there is no file {quoted(chosen.file)}")
    kind = recorded(chosen.file)
    if chosen.golden is not None:
        golden = GoldenSet.load(chosen.golden)
        evaluation = measured_from(chosen.file, golden)
        metrics = _chosen_metrics(chosen, chosen.file, golden.name)
        with collecting() as ledger:
            for entry in _entries(evaluation, metrics, chosen.by):
                enter(entry)
            for entry in resolution_entries(evaluation, metrics):
                enter(entry)
        _print_summary(ledger)
        return PASSED
    if kind is None:
        raise ConfigurationError(f"{quoted(chosen.file)}: to measure a run, give its --golden set")
    record = record_in(chosen.file)
    assert record is not None
    print(
        f"{kind} of golden set '{quoted(record.golden_name)}': {record.golden_queries:,} queries, "
        f"{record.golden_judgments:,} judgments, fingerprint {record.golden_fingerprint}"
    )
    for name, kept in record.kept.items():
        mean = number(record.mean(Metric.parse(name)))
        print(f"  {name}  {mean}  best {number(kept.best)}{'' if kept.gated else '  not gated'}")
    for approval in record.approvals:
        print(f'  approved {approval.date[:10]}: "{quoted(approval.reason)}"')
    return PASSED


def _entries(
    evaluation: Evaluation, metrics: Sequence[Metric], by: Sequence[str]
) -> Iterator[Entry]:
    """Yield a line a metric, and a note a slice."""
    for metric in metrics:
        yield Entry(
            golden=evaluation.golden.name,
            queries=len(evaluation.query_ids),
            metric=str(metric),
            baseline=None,
            now=evaluation.mean(metric),
            verdict="",
            failed=False,
        )
        for attribute in by:
            for value, places in evaluation.slices(attribute).items():
                mean = number(evaluation.mean_at(metric, places))
                yield Entry(
                    heading=f"{metric} by {quoted(attribute)}",
                    note=f"{quoted(value)}  {mean} ({len(places):,})",
                )


# --- lint and metrics ------------------------------------------------------------------------


def _lint(chosen: argparse.Namespace) -> int:
    worst = PASSED
    for path in chosen.golden:
        # A set that contradicts itself is one to be looked at, not one that cannot be read.
        golden = GoldenSet.load(path, contradictions="first")
        findings = golden.lint()
        print(lint_text(golden.name, len(golden), findings))
        _print_summary(list(ideal_resolution_entries(golden, USUAL_METRICS)))
        if any(finding.level == "error" for finding in findings):
            worst = BLOCKED
    return worst


def _metrics(chosen: argparse.Namespace) -> int:
    if chosen.name is None:
        for name, found in definitions().items():
            aliases = f" ({', '.join(found.aliases)})" if found.aliases else ""
            print(f"{name}{aliases}\n    {found.summary}")
        return PASSED
    asked: Definition | Metric
    if "@" in chosen.name or "(" in chosen.name:
        asked = Metric.parse(chosen.name)
    else:
        asked = definition(chosen.name)
    print("\n".join(card_of(asked).lines()))
    return PASSED
