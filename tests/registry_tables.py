"""The tables of the manual that are made from registries: of metrics, rules, options, columns."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate
from pytest_rankcheck.behaviour.changed_queries import BUILT_IN
from pytest_rankcheck.command_line.metrics_command import card_of, percentage
from pytest_rankcheck.golden.lint.linter import all_rules
from pytest_rankcheck.metrics import ranking_similarity
from pytest_rankcheck.metrics.metric_laws import LAWS, LawResult
from pytest_rankcheck.metrics.metric_parameters import spelled
from pytest_rankcheck.metrics.metric_registry import definitions, judged_definitions
from pytest_rankcheck.plugin.configuration import all_option_rows
from pytest_rankcheck.sessions.log_columns import ROLES
from tests.manual_tables import DOCS

Rows = Iterator[tuple[str, ...]]


class Table(NamedTuple):
    """A table of a page: the heads of its columns, and a function that makes its rows."""

    page: str
    columns: str
    rows: Callable[[], Rows]

    def text(self) -> str:
        columns = self.columns.split(" | ")
        rows = [columns, *self.rows()]
        head, *lines = (f"| {' | '.join(cells)} |\n" for cells in rows)
        return "".join([head, f"|{'---|' * len(columns)}\n", *lines])


def in_code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def best(entry: Any) -> str:
    """Return which values of a metric are better, and its range."""
    low, high = entry.range
    return f"{entry.better}, {low:g} to {high:g}"


def scored(metric: Metric, ranked: list[str], grades: dict[str, float]) -> str:
    """Return the value of a metric for one ranking, as the manual writes it."""
    golden = GoldenSet.from_dict({"q": grades, "other": {"x": 2, "y": 1}})
    run = Run.from_dict({"q": ranked, "other": ["x"]})
    return f"{evaluate(run, golden).per_query(metric)['q']:g}"


def metrics() -> Rows:
    for entry in judged_definitions().values():
        at = {"cutoff": "@5", "recall": "@0.5", None: ""}[entry.at]
        metric = Metric.parse(f"{entry.name}{at}")
        stems = [f"{stem}_k" if entry.at == "cutoff" else f"{stem}_r" for stem in entry.trec_eval]
        yield (
            f"`{entry.name}`<br>{entry.summary}",
            in_code((*entry.aliases, *stems)),
            in_code(name for name in entry.parameters if name != "judged_only"),
            best(entry),
            scored(metric, [], {"a": 1}),
            scored(metric, ["a", "b"], {"a": 0}),
            entry.unjudged,
            entry.reference,
        )


def session_metrics() -> Rows:
    for entry in definitions().values():
        if not entry.kind.recur:
            name, aliases = f"`{entry.name}`<br>{entry.summary}", in_code(entry.aliases)
            yield name, aliases, in_code(entry.parameters), best(entry), entry.reference


def run_metrics() -> Rows:
    for entry in definitions().values():
        if entry.kind.recur and not entry.kind.is_of_judgments:
            name, use = f"`{entry.name}`<br>{entry.summary}", f"`{entry.formula}`<br>*{entry.use}*"
            yield name, use, in_code(entry.parameters), best(entry), entry.reference


def log_columns() -> Rows:
    for role in ROLES:
        yield f"`{role.name}`", in_code(dict.fromkeys((role.name, *role.names, *role.otherwise)))


def parameters() -> Rows:
    metrics_by_parameter: dict[tuple[str, str, str], list[str]] = {}
    for entry in definitions().values():
        for parameter in entry.parameters.values():
            default = "" if parameter.default is None else spelled(parameter.default)
            meaning = f"{parameter.allowed}; {parameter.description}"
            key = (parameter.name, default, meaning)
            metrics_by_parameter.setdefault(key, []).append(entry.name)
    for (name, default, meaning), names in sorted(metrics_by_parameter.items()):
        of = "all of queries" if len(names) == len(judged_definitions()) else ", ".join(names)
        yield f"`{name}`", default, meaning, of


def similarities() -> Rows:
    names = "jaccard overlap rbo tau_ap top_k_kendall"
    for function in (getattr(ranking_similarity, name) for name in names.split()):
        call = f"`{function.__name__}{inspect.signature(function)}`"
        call = call.replace("'", "").replace("RankedIds", "ids").replace("TiedRanking", "ids")
        summary, *paragraphs = (inspect.getdoc(function) or "").split("\n\n")
        sources = (each.removeprefix("Source: ") for each in paragraphs if "Source: " in each)
        yield call, summary, " ".join(" ".join(sources).split())


def rules() -> Rows:
    for rule in all_rules():
        yield f"`{rule.name}`", rule.level, rule.summary


def built_in_perturbations() -> Rows:
    for name, make in BUILT_IN.items():
        summary = (make.__doc__ or "").partition("\n")[0]
        text = "Red Müsli bowls"
        yield f"`{name}`", summary, in_code(repr(each) for each in make(text) if each != text)


def cards() -> Rows:
    for entry in judged_definitions().values():
        card = card_of(entry)
        names = in_code(name for name in entry.parameters if name != "judged_only")
        seen = (
            f"`{report.checked}` {percentage(report.seen_binary)}, {percentage(report.seen_graded)}"
            for report in card.reports
        )
        yield (
            f"`{entry.name}`",
            f"`{entry.formula}`<br>*{entry.use}*",
            f"{best(entry)}<br>{names}".removesuffix("<br>"),
            laws_in_words(list(card.laws())),
            "<br>".join(seen),
            entry.reference,
        )


def laws_in_words(found: list[tuple[LawResult, ...]]) -> str:
    """Return which laws hold, of the whole ranking and, where that differs, at a cutoff."""
    words = {True: "yes", "binary": "binary", False: "no"}
    parts = []
    for holds, word in words.items():
        names = [results[0].law for results in found if results[0].holds == holds]
        parts += [f"**{word}** {', '.join(names)}"] if names else []
    at_cutoff = [
        f"{results[1].law} {words[results[1].holds]}"
        for results in found
        if len(results) > 1 and results[1].holds not in (None, results[0].holds)
    ]
    parts += [f"**@4** {', '.join(at_cutoff)}"] if at_cutoff else []
    return "<br>".join(parts)


def laws() -> Rows:
    for law in LAWS:
        yield f"`{law.__name__}`", " ".join((inspect.getdoc(law) or "").split())


def options() -> Rows:
    """Yield each option with the guide that the page names; a new option needs a row with one."""
    rows = re.findall(
        r"^\|\D*?((?:--rankcheck-|rankcheck_)[\w-]+).* (\[[\w /]+\]\([\w#./-]+\)) \|$",
        (DOCS / "configuration.md").read_text("utf-8"),
        re.MULTILINE,
    )
    guides = dict(rows)
    for row in all_option_rows().values():
        flag = f"`{row.flag}{f' {row.shown_value}' if row.shown_value else ''}`" if row.flag else ""
        what = row.help.replace("|", "\\|")
        yield flag, f"`{row.ini}`" if row.ini else "", what, guides[row.flag or str(row.ini)]


_METRICS = "reference/metrics.md"
TABLES = {
    "options": Table("configuration.md", "option | ini name | what it does | guide", options),
    "perturbations": Table(
        "behaviour.md",
        "name | what a query becomes | *Red Müsli bowls* becomes",
        built_in_perturbations,
    ),
    "cards": Table(
        "reference/laws.md",
        "metric | formula; when to use it | better, parameters | laws | swaps seen | source",
        cards,
    ),
    "laws": Table("reference/laws.md", "law | what it says", laws),
    "metrics": Table(
        _METRICS, "metric | also | parameters | best | empty | none | unjudged | source", metrics
    ),
    "parameters": Table(_METRICS, "parameter | default | takes; means | metrics", parameters),
    "similarities": Table(_METRICS, "function | what it is | source", similarities),
    "run metrics": Table(
        _METRICS, "metric | formula; when to use it | parameters | best | source", run_metrics
    ),
    "session metrics": Table(
        _METRICS, "metric | also | parameters | best | source", session_metrics
    ),
    "log columns": Table("reference/log-columns.md", "meaning | names", log_columns),
    "rules": Table("reference/lint-rules.md", "rule | level | what it finds", rules),
}
