"""Every code block of the README and the manual is run, and every generated table is compared.

A block with ``title="path"`` writes that file. Blocks of Python without a title run one after the
other. A ``console`` block runs its ``$`` lines and compares what they print; ``...`` stands for any
text. The blocks of a page share one temporary folder and one namespace.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from manual_tables import anchors_of, check_table
from markdown_it import MarkdownIt
from registry_tables import TABLES

from pytest_rankcheck.reports.ledger import collecting

ROOT = Path(__file__).parent.parent
MANUAL = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *MANUAL]
LINKED = [*MANUAL, *sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("examples/*/README.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file to write, its text and its place in the page."""

    language: str
    title: str | None
    text: str
    where: str


@cache
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


WITHOUT_CODE = {"docs/which-gate.md", "docs/README.md", "docs/messages.md", "docs/api.md"}


def test_every_guide_shows_code() -> None:
    without = {page_id(page) for page in PAGES if not blocks_of(page)}
    assert {name for name in without if not name.startswith("docs/reference/")} <= WITHOUT_CODE


def pages_with_code() -> Iterator[ParameterSet]:
    """Yield the pages; slow, if commands take seconds and it is not what a newcomer reads first."""
    for page in filter(blocks_of, PAGES):
        has_commands = any(block.language == "console" for block in blocks_of(page))
        marks = [pytest.mark.slow] if has_commands and page.name != "README.md" else []
        yield pytest.param(page, marks=marks, id=page_id(page))


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("page", list(pages_with_code()))
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
            continue  # nox -s peers runs it
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


READER = {
    "COLUMNS": "80",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
}
"""The environment in which a reader types commands."""


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
        if not name.startswith(("PYTEST_", "COV_")) and name != "COLUMNS"
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment | READER | {"PYTEST_DEBUG_TEMPROOT": own_temporary_folder(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def run_after_install(block: Block) -> None:
    """Check the form of a command that installs and runs; ``.ci/run`` runs it in a new venv."""
    install, _, command = block.text.strip().partition(" && ")
    assert install.startswith("pip install "), block.where
    assert command.partition(" ")[0] == "pytest", block.where
    assert all((ROOT / path).exists() for path in shlex.split(command)[1:]), block.where


@pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "cards")) for kind in TABLES]
)
def test_the_tables_of_the_manual_are_those_of_the_registries(kind: str) -> None:
    """Set RANKCHECK_WRITE_DOCS=1 to write them."""
    check_table(TABLES[kind].page, kind, TABLES[kind].text())


def test_the_readme_is_labelled_for_ci() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for label in ("example", "tests"):
        assert f"<!-- command: {label} -->\n```sh\npip install " in readme


def test_the_written_pages_can_be_read_in_a_day() -> None:
    """Reference pages are looked up, and mostly generated."""
    written = [page for page in PAGES if page.name != "api.md" and page.parent.name != "reference"]
    assert sum(len(page.read_text("utf-8").split()) for page in written) <= 32_000


def test_links_lead_to_a_file_and_a_heading() -> None:
    links = [(page, target, anchor) for page in LINKED for target, anchor in links_of(page)]
    assert len(links) > 100
    for page, target, anchor in links:
        destination = (page.parent / target).resolve() if target else page
        assert destination.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors_of(destination), f"{page.name} links to {target}#{anchor}"


def links_of(page: Path) -> list[tuple[str, str]]:
    """Return the links of a page to files of this repository: file and anchor."""
    return links_in(page.read_text("utf-8"))


def links_in(text: str) -> list[tuple[str, str]]:
    return re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)", text)


def test_every_page_of_the_manual_is_in_its_table_of_contents() -> None:
    contents = ROOT / "docs" / "README.md"
    listed = {(contents.parent / target).resolve() for target, _ in links_of(contents)}
    assert {page_id(page) for page in MANUAL if page not in {contents, *listed}} == set()


def test_the_site_lists_the_pages_as_the_table_of_contents_does() -> None:
    contents = ROOT / "docs" / "README.md"
    _, *parts = contents.read_text("utf-8").split("\n## ")
    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    for part, listed in zip(parts, project["nav"], strict=True):
        ((title, entries),) = listed.items()
        assert title == part.partition("\n")[0]
        linked = [(contents.parent / target).resolve() for target, _ in links_in(part)]
        start = [ROOT / "README.md", contents] if title == "Start" else []
        assert [ROOT / path for path in navigated(entries)] == [*start, *linked]


def navigated(entries: list[Any]) -> Iterator[str]:
    """Yield the paths of a part of the navigation."""
    for entry in entries:
        value = entry if isinstance(entry, str) else next(iter(entry.values()))
        yield from [value] if isinstance(value, str) else navigated(value)
