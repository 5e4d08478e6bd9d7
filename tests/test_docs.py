"""Every code block of the README and the manual is run, and every generated table is compared.

A block with ``title="path"`` writes that file. Blocks of Python without a title run one after the
other. A ``console`` block runs its ``$`` lines and compares what they print; ``...`` stands for any
text. The blocks of a page share one temporary folder and one namespace.
"""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from unicodedata import is_normalized

import pytest
from _pytest.mark import ParameterSet
from manual_tables import check_table
from markdown_it import MarkdownIt

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate, perturbations
from pytest_rankcheck.golden.lint.linter import all_rules
from pytest_rankcheck.golden.lint.metric_spreads import MEASURED
from pytest_rankcheck.metrics.laws.law_check import LAWS, REQUIRED
from pytest_rankcheck.metrics.laws.law_report import LawResult
from pytest_rankcheck.metrics.laws.metric_card import card_of, percentage
from pytest_rankcheck.metrics.laws.similarity_laws import PAIR_LAWS, check_similarity
from pytest_rankcheck.metrics.metric_parameters import spelled
from pytest_rankcheck.metrics.metric_registry import definitions, judged_definitions
from pytest_rankcheck.metrics.similarity.similarity_registry import similarities
from pytest_rankcheck.plugin.configuration import all_option_rows
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.sessions.log_layouts import ROLES
from pytest_rankcheck.sessions.profile.log_rules import log_rules

ROOT = Path(__file__).parent.parent
MANUAL = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *MANUAL]
LINKED = [*PAGES, *sorted(ROOT.glob("CONTRIBUTING.md")), *sorted(ROOT.glob("examples/*/README.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file to write, its text and its place in the page."""

    language: str
    title: str | None
    text: str
    where: str


def blocks_of(page: Path) -> list[Block]:
    blocks = []
    for token in MarkdownIt().parse(page.read_text("utf-8")):
        if token.type in ("fence", "code_block"):
            language, _, rest = token.info.partition(" ")
            title = re.search(r'title="([^"]+)"', rest)
            line = token.map[0] + 1 if token.map else 0
            blocks.append(Block(language, title and title[1], token.content, f"{page.name}:{line}"))
    return blocks


@pytest.fixture
def undisturbed(own_metrics: None, tmp_path: Path) -> Iterator[None]:
    """Forget the metrics that a page registers and the modules of its folder."""
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def with_code(pages: Sequence[Path]) -> list[Path]:
    """Return the pages that show code; a table of contents and generated reference do not."""
    return [page for page in pages if blocks_of(page)]


def test_every_guide_shows_code() -> None:
    without = {page_id(page) for page in PAGES} - {page_id(page) for page in with_code(PAGES)}
    assert {name for name in without if not name.startswith("docs/reference/")} <= WITHOUT_CODE


WITHOUT_CODE = {
    "docs/calibration.md",
    "docs/which-gate.md",
    "docs/README.md",
    "docs/architecture.md",
    "docs/api.md",
}


def slow_if_commands(page: Path) -> ParameterSet:
    """Return a page; slow, if its commands take seconds and it is not what a newcomer reads first."""
    has_commands = any(block.language == "console" for block in blocks_of(page))
    is_first = page.name in ("README.md", "tutorial.md")
    marks = [pytest.mark.slow] if has_commands and not is_first else []
    return pytest.param(page, marks=marks, id=page_id(page))


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("page", [slow_if_commands(page) for page in with_code(PAGES)])
def test_the_code_blocks_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks_of(page):
        if block.title:
            file = tmp_path / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif '"ir_measures:' in block.text and find_spec("ir_measures") is None:
            continue  # nox -s oracles runs it
        elif block.language == "python":
            with collecting():  # its findings do not belong to this test session
                exec(compile(block.text, block.where, "exec"), namespace)
        elif block.language == "console":
            run_console(block, tmp_path)
        elif block.language == "sh":
            run_after_install(block)
        else:
            pytest.fail(f"{block.where}: a block of '{block.language}' that nothing runs")


def own_temporary_folder(folder: Path) -> str:
    """Return where pytest inside pytest keeps its files: another one might clean a shared folder."""
    temporary = folder.with_name(f"{folder.name}-temporary")
    temporary.mkdir(exist_ok=True)
    return str(temporary)


def run_console(block: Block, folder: Path) -> None:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        printed = run(shlex.split(command), folder)
        matches = doctest.OutputChecker().check_output(expected, printed, FLAGS)
        assert matches, f"{block.where}: $ {command}\nprinted\n{printed}\nnot\n{expected}"


def run(command: list[str], folder: Path) -> str:
    """Run a command as a reader would, in an environment without traces of this session."""
    if command[0] == "pytest":
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *command[1:]]
    elif command[0] == "python":
        command = [sys.executable, *command[1:]]
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV_", "GITHUB_")) and name not in ("CI", "COLUMNS")
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment | {"COLUMNS": "80", "PYTEST_DEBUG_TEMPROOT": own_temporary_folder(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def run_after_install(block: Block) -> None:
    """Run what follows ``pip install ... &&``; ``.ci/run`` runs the whole line in a new venv.

    The command that runs the tests would run this test again: it is only checked for its form.
    """
    install, _, command = block.text.strip().partition(" && ")
    assert install.startswith("pip install "), block.where
    if command != "pytest":
        printed = run(shlex.split(command), ROOT)
        assert "rankcheck" in printed
        assert " passed" in printed
        assert "failed" not in printed, printed


def scored(metric: Metric, ranked: list[str], grades: dict[str, float]) -> str:
    """Return the value of a metric for one ranking, as the manual writes it."""
    golden = GoldenSet.from_dict({"q": grades, "other": {"x": 2, "y": 1}})
    run = Run.from_dict({"q": ranked, "other": ["x"]})
    return f"{evaluate(run, golden).per_query(metric)['q']:g}"


def table_of_metrics() -> str:
    """Return the manual's table of metrics, made from the registry and from the metrics."""
    rows = [
        "| metric | also | parameters | best | empty | none | unjudged | source |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in judged_definitions().values():
        at = {"cutoff": "@5", "recall": "@0.5", None: ""}[entry.at]
        metric = Metric.parse(f"{entry.name}{at}")
        stems = [f"{stem}_k" if entry.at == "cutoff" else f"{stem}_r" for stem in entry.trec_eval]
        low, high = entry.range
        cells = (
            f"`{entry.name}`<br>{entry.summary}",
            ", ".join(f"`{name}`" for name in (*entry.aliases, *stems)),
            ", ".join(f"`{name}`" for name in entry.parameters if name != "judged_only"),
            f"{'higher' if entry.higher_is_better else 'lower'}, {low:g} to {high:g}",
            scored(metric, [], {"a": 1}),
            scored(metric, ["a", "b"], {"a": 0}),
            entry.unjudged,
            entry.reference,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def table_of_session_metrics() -> str:
    """Return the manual's table of metrics of sessions."""
    rows = ["| metric | also | parameters | best | source |", "|---|---|---|---|---|"]
    for entry in definitions().values():
        if entry.unit == "session":
            low, high = entry.range
            cells = (
                f"`{entry.name}`<br>{entry.summary}",
                ", ".join(f"`{name}`" for name in entry.aliases),
                ", ".join(f"`{name}`" for name in entry.parameters),
                f"{'higher' if entry.higher_is_better else 'lower'}, {low:g} to {high:g}",
                entry.reference,
            )
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def table_of_log_columns() -> str:
    """Return the manual's table of the column names that are recognised in a log."""
    rows = ["| meaning | names |", "|---|---|"]
    for role in ROLES:
        names = dict.fromkeys((role.name, *role.names, *role.otherwise))
        rows.append(f"| `{role.name}` | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(rows) + "\n"


def table_of_run_metrics() -> str:
    """Return the manual's table of metrics of the whole run."""
    rows = [
        "| metric | formula; when to use it | parameters | best | source |",
        "|---|---|---|---|---|",
    ]
    for entry in definitions().values():
        if entry.unit == "run":
            low, high = entry.range
            cells = (
                f"`{entry.name}`<br>{entry.summary}",
                f"`{entry.formula}`<br>*{entry.use}*",
                ", ".join(f"`{name}`" for name in entry.parameters),
                f"{'higher' if entry.higher_is_better else 'lower'}, {low:g} to {high:g}",
                entry.reference,
            )
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def table_of_parameters() -> str:
    """Return the manual's table of the parameters of metrics."""
    metrics_by_parameter: dict[tuple[str, str, str], list[str]] = {}
    for entry in definitions().values():
        for parameter in entry.parameters.values():
            default = "" if parameter.default is None else spelled(parameter.default)
            meaning = f"{parameter.allowed}; {parameter.description}"
            key = (parameter.name, default, meaning)
            metrics_by_parameter.setdefault(key, []).append(entry.name)
    rows = ["| parameter | default | takes; means | metrics |", "|---|---|---|---|"]
    for (name, default, meaning), metrics in sorted(metrics_by_parameter.items()):
        of = "all of queries" if len(metrics) == len(judged_definitions()) else ", ".join(metrics)
        rows.append(f"| `{name}` | {default} | {meaning} | {of} |")
    return "\n".join(rows) + "\n"


def table_of_similarities() -> str:
    """Return the manual's table of what compares two rankings."""
    rows = ["| function | what it is | best | source |", "|---|---|---|---|"]
    for entry in similarities().values():
        low, high = entry.range
        best = f"{'higher' if entry.higher_is_better else 'lower'}, {low:g} to {high:g}"
        call = f"`{entry.compute.__name__}{inspect.signature(entry.compute)}`"
        call = call.replace("'", "").replace("RankedIds", "ids").replace("TiedRanking", "ids")
        rows.append(f"| {call} | {entry.summary} | {best} | {entry.reference} |")
    return "\n".join(rows) + "\n"


def table_of_rules() -> str:
    """Return the manual's table of the linter's rules."""
    rows = ["| rule | level | what it finds |", "|---|---|---|"]
    rows += [f"| `{rule.name}` | {rule.level} | {rule.summary} |" for rule in all_rules()]
    return "\n".join(rows) + "\n"


def table_of_spreads() -> str:
    """Return the manual's table of how much metrics change between two versions of a ranker."""
    rows = ["| metric | least | median | largest |", "|---|---|---|---|"]
    for name, (low, middle, high) in MEASURED.items():
        rows.append(f"| `{name}` | {low:.2f} | {middle:.2f} | {high:.2f} |")
    return "\n".join(rows) + "\n"


def table_of_log_rules() -> str:
    """Return the manual's table of the linter's rules for session logs."""
    rows = ["| rule | level | what it finds |", "|---|---|---|"]
    rows += [f"| `{rule.name}` | {rule.level} | {rule.summary} |" for rule in log_rules()]
    return "\n".join(rows) + "\n"


def table_of_perturbations() -> str:
    """Return the manual's table of the perturbations that are built in."""
    rows = ["| name | what a query becomes | *Red Müsli bowls* becomes |", "|---|---|---|"]
    for perturbation in perturbations().values():
        made = perturbation("Red Müsli bowls")
        # Apart from each other, a letter and its accent look as they do together.
        shown = (repr(text) if is_normalized("NFC", text) else ascii(text) for text in made)
        examples = ", ".join(f"`{text}`" for text in shown)
        rows.append(f"| `{perturbation.name}` | {perturbation.summary} | {examples} |")
    return "\n".join(rows) + "\n"


def table_of_cards() -> str:
    """Return the manual's table of cards, made from the registry and from the laws."""
    rows = [
        "| metric | formula; when to use it | better, parameters | laws | swaps seen | source |",
        "|---|---|---|---|---|---|",
    ]
    for entry in judged_definitions().values():
        card = card_of(entry)
        low, high = entry.range
        parameters = [f"`{name}`" for name in entry.parameters if name != "judged_only"]
        better = f"{'higher' if entry.higher_is_better else 'lower'}, {low:g} to {high:g}"
        cells = (
            f"`{entry.name}`",
            f"`{entry.formula}`<br>*{entry.use}*",
            "<br>".join([better, ", ".join(parameters)]).removesuffix("<br>"),
            laws_in_words(list(card.laws())),
            "<br>".join(
                f"`{report.checked}` {percentage(report.seen_binary)}, {percentage(report.seen_graded)}"
                for report in card.reports
            ),
            entry.reference,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def laws_in_words(laws: list[tuple[LawResult, ...]]) -> str:
    """Return which laws hold, of the whole ranking and, where that differs, at a cutoff."""
    words = {True: "yes", "binary": "binary", False: "no"}
    parts = []
    for holds, word in words.items():
        names = [results[0].law for results in laws if results[0].holds == holds]
        parts += [f"**{word}** {', '.join(names)}"] if names else []
    at_cutoff = [
        f"{results[1].law} {words[results[1].holds]}"
        for results in laws
        if len(results) > 1 and results[1].holds not in (None, results[0].holds)
    ]
    parts += [f"**@4** {', '.join(at_cutoff)}"] if at_cutoff else []
    return "<br>".join(parts)


def table_of_laws() -> str:
    """Return the manual's table of the laws of metrics: their docstrings."""
    return definitions_of({law.__name__: law for law in (*REQUIRED, *LAWS)})


def table_of_pair_laws() -> str:
    """Return the manual's table of the laws of similarities."""
    return definitions_of(PAIR_LAWS)


def definitions_of(laws: Mapping[str, Callable[..., object]]) -> str:
    rows = ["| law | what it says | exactly |", "|---|---|---|"]
    for name, law in laws.items():
        first, _, rest = inspect.getdoc(law).partition("\n")
        exact = " ".join(rest.split()).replace("``", "`").replace("|", "\\|").replace("*", "\\*")
        rows.append(f"| `{name}` | {first} | {exact} |")
    return "\n".join(rows) + "\n"


def table_of_similarity_laws() -> str:
    """Return the manual's table of which similarity keeps which law."""
    rows = [f"| function | {' | '.join(f'`{name}`' for name in PAIR_LAWS)} |", "|---" * 8 + "|"]
    for entry in similarities().values():
        holds = {result.law: result.holds for result in check_similarity(entry)}
        cells = ["yes" if holds[name] else "no" for name in PAIR_LAWS]
        rows.append(f"| `{entry.compute.__name__}` | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def table_of_options() -> str:
    """Return the manual's table of the options and ini names."""
    rows = ["| option | ini name | what it does | guide |", "|---|---|---|---|"]
    for row in all_option_rows().values():
        flag = f"`{row.flag}{f' {row.metavar}' if row.metavar else ''}`" if row.flag else ""
        ini = f"`{row.ini}`" if row.ini else ""
        guide = row.guide.partition(".")[0].replace("-", " ")
        what = row.help.replace("|", "\\|")
        rows.append(f"| {flag} | {ini} | {what} | [{guide}]({row.guide}) |")
    return "\n".join(rows) + "\n"


TABLES = {
    "options": ("configuration.md", table_of_options),
    "perturbations": ("behaviour.md", table_of_perturbations),
    "cards": ("reference/laws.md", table_of_cards),
    "laws": ("reference/laws.md", table_of_laws),
    "pair laws": ("reference/laws.md", table_of_pair_laws),
    "similarity laws": ("reference/laws.md", table_of_similarity_laws),
    "metrics": ("reference/metrics.md", table_of_metrics),
    "parameters": ("reference/metrics.md", table_of_parameters),
    "similarities": ("reference/metrics.md", table_of_similarities),
    "log columns": ("sessions.md", table_of_log_columns),
    "run metrics": ("reference/metrics.md", table_of_run_metrics),
    "session metrics": ("reference/metrics.md", table_of_session_metrics),
    "rules": ("golden-sets.md", table_of_rules),
    "spreads": ("golden-sets.md", table_of_spreads),
    "log rules": ("sessions.md", table_of_log_rules),
}


@pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")
@pytest.mark.parametrize("kind", TABLES)
def test_the_tables_of_the_manual_are_those_of_the_registries(kind: str) -> None:
    """Set RANKCHECK_WRITE_DOCS=1 to write them."""
    name, make = TABLES[kind]
    check_table(name, kind, make())


def test_the_readme_is_labelled_for_ci() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for label in ("example", "tests"):
        assert f"<!-- command: {label} -->\n```sh\npip install " in readme


@pytest.mark.parametrize("page", LINKED, ids=page_id)
def test_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    for target, anchor in links_of(page):
        destination = page.parent / target if target else page
        assert destination.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors_of(destination), f"{page.name} links to {target}#{anchor}"


def links_of(page: Path) -> list[tuple[str, str]]:
    """Return the links of a page to files of this repository: file and anchor."""
    text = page.read_text("utf-8")
    return re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)", text)


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_of_the_manual_is_in_its_table_of_contents() -> None:
    contents = ROOT / "docs" / "README.md"
    listed = {(contents.parent / target).resolve() for target, _ in links_of(contents)}
    assert {page_id(page) for page in MANUAL if page not in {contents, *listed}} == set()


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `title`, in words\n\n[here](#a-title-in-words) and [there](x.md#y)\n")
    assert anchors_of(page) == {"a-title-in-words"}
    assert links_of(page) == [("", "a-title-in-words"), ("x.md", "y")]
