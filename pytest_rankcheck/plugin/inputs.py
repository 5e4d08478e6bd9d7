"""The inputs that a configuration names, each found, checked and read when it is needed.

Golden sets, session logs, runs, the ranker, metrics and gates. What cannot work is refused with a
message that says how to correct it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rankcheck.errors import ConfigurationError, GoldenSetError, MetricError, quoted
from pytest_rankcheck.files.file_patterns import is_pattern, matches_any
from pytest_rankcheck.files.packed_files import shown_name
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.item_identity import GOLDEN_NAME
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule
    from pytest_rankcheck.evaluation.conventions import Conventions
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.gates.configured_gates import ConfiguredGates
    from pytest_rankcheck.golden.documents import Documents, Interactions
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.golden.lint.lint_rule import LintOptions
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.rankers.ranker_lookup import MadeRankers
    from pytest_rankcheck.rankers.run import Run
    from pytest_rankcheck.sessions.session_log import SessionLog


_INPUTS = pytest.StashKey["Inputs"]()
FILE_INPUTS = pytest.StashKey["Inputs"]()
"""The inputs of a rank file; each rank file has its own."""
_OF_INTERACTIONS = ("user", "item")
_OF_RUNS = ("score", "rank", *_OF_INTERACTIONS)
_OF_GOLDEN_SETS = (
    *("query", "relevance", "title", "candidate", "subtopic", "grade_scale"),
    *_OF_INTERACTIONS,
)
"""The meanings that only columns of runs, or only columns of golden sets, can have."""
_OF_SET = re.compile(r"([^=:]+): \S")
"""How a line for one golden set begins."""
_WEEK = "logs/week.jsonl"
_EXAMPLES = {
    "golden_set": ("golden", "golden/web.jsonl", 'GoldenSet.load("golden/web.jsonl")'),
    "session_log": ("sessions", _WEEK, f'SessionLog.load("{_WEEK}", first_rank=0)'),
    "ranker": ("ranker", "package.module:name", "Engine.load().search"),
}
"""For each fixture: its option, an example value, and what a fixture could return."""


def inputs_of(config: pytest.Config) -> Inputs:
    """Return the inputs of a test session, the same ones at each call."""
    return config.stash.setdefault(_INPUTS, Inputs(config.stash[CONFIG]))


def inputs_for(item: pytest.Item) -> Inputs:
    """Return the inputs of a test: those of its rank file, or of the test session."""
    file = item.getparent(pytest.Module)
    own = file.stash.get(FILE_INPUTS, None) if file else None
    return own or inputs_of(item.config)


class Inputs:
    """What a configuration names. Anything wrong with it is a `ConfigurationError`.

    Args:
        config: the configuration.
        make_ranker: makes the ranker that a rank file describes; None: the configuration names it.
    """

    def __init__(self, config: Config, make_ranker: Callable[[], object] | None = None) -> None:
        self.config = config
        self._make_ranker = make_ranker
        self._judged: list[Path] = []
        """The golden sets that were read."""
        self._of_golden: dict[tuple[object, ...], Inputs] = {}

    @property
    def has_own_ranker(self) -> bool:
        """Whether a rank file describes the ranker."""
        return self._make_ranker is not None

    @cached_property
    def conventions(self) -> Conventions:
        """The configured conventions."""
        from pytest_rankcheck.evaluation.conventions import Conventions

        with _named("rankcheck_conventions"):
            return Conventions.from_dict(self.config.conventions)

    def of_golden(self, name: str) -> Inputs:
        """Return the inputs for a golden set, without the lines for other golden sets."""
        chosen = config_of_set(self.config, name)
        # Golden sets with the same lines share the documents that they read.
        lines = (*chosen.columns.items(), *chosen.doc_id_lines)
        if lines not in self._of_golden:
            own = self._of_golden[lines] = Inputs(chosen)
            own._judged = self._judged
        return self._of_golden[lines]

    @cached_property
    def doc_id(self) -> DocIdRule | None:
        """How the ids of one golden set and its runs are mapped; None if they are not."""
        with _named("rankcheck_doc_id"):
            return doc_id_rule(self.config)

    # --- golden sets and session logs --------------------------------------------------------

    @property
    def golden_paths(self) -> Sequence[Path]:
        """The configured golden sets, at least one."""
        if self.config.left_out and not self.config.golden:
            raise ConfigurationError(
                f"golden set {', '.join(self.config.left_out)}: the environment variable is not "
                "set; set it, or name another golden set"
            )
        if not self.config.golden:
            raise _missing("golden_set")
        return _present("golden set", self.config.golden, "golden")

    @property
    def log_paths(self) -> Sequence[Path]:
        """The configured session logs, at least one."""
        if not self.config.sessions:
            raise _missing("session_log")
        return _present("session log", self.config.sessions, "sessions")

    def golden_set(self, path: Path, contradictions: str | None = None) -> GoldenSet:
        """Return the golden set at ``path``, read as configured.

        If several sets are configured, one may lack an attribute that another has, and one may have
        grades although ``rankcheck_grades`` gives the grade of every row of another.

        Args:
            path: the file or folder.
            contradictions: overrides the configured rule for a document that is judged twice.

        Raises:
            GoldenSetError: it cannot be read, or a column by which `rankcheck_slices` gates is not
                an attribute.
        """
        from pytest_rankcheck.golden.golden_files import contents_of_file
        from pytest_rankcheck.golden.golden_set import GoldenSet
        from pytest_rankcheck.golden.golden_source import Source

        config, name = self.config, shown_name(path)
        own = self.of_golden(name)
        self._judged.append(path)
        source = Source.of(
            shorter(path),
            grades=config.grades,
            columns=own._columns(path, [config.run] if config.run else [], _OF_RUNS),
            split=config.split,
            contradictions=contradictions or config.contradictions,
            attributes=config.attributes or None,
            scale=config.scale,
            is_shared=any(other != path for other in config.golden),
            needed=[each for key, each in lines_for(name, config.columns).items() if key != each],
            doc_id_lines=config.doc_id_lines,
        )
        contents = contents_of_file(source, None, own.doc_id)
        contents = replace(contents, documents=own.documents, interactions=own.interactions)
        golden = GoldenSet(contents, name)
        for attribute in config.slices:
            golden.check_no_feature(attribute)
        return golden

    def is_sealed(self, name: str) -> bool:
        """Return whether the queries and documents of a golden set must not be named."""
        return name in self.config.hidden

    def _columns(
        self, path: Path, others: Sequence[Path], unused: Collection[str]
    ) -> Mapping[str, str]:
        """Return the configured columns of a table, without those that only another file has.

        Args:
            path: the file or folder of the table.
            others: the other files that the columns may be meant for.
            unused: the meanings that no column of such a table has.
        """
        if not self.config.columns:
            return {}
        from pytest_rankcheck.files.tables import column_names

        elsewhere = {name for other in others for name in column_names(other)}
        of_others = elsewhere.difference(column_names(path))
        columns = self.config.columns.items()
        return {
            role: name for role, name in columns if role not in unused and name not in of_others
        }

    def session_log(self, path: Path) -> SessionLog:
        """Return the session log at ``path``, read as configured."""
        from pytest_rankcheck.sessions.session_log import SessionLog

        log = SessionLog.load(shorter(path), **self.config.session_reading)
        clusters = self.config.session_clusters
        return log if clusters is None else log.clustered(clusters)

    # --- runs and the ranker -----------------------------------------------------------------

    @property
    def run_path(self) -> Path:
        """The configured run: an existing file, or a folder with a run for each golden set."""
        run = self.config.run
        if run is None or not (run.parent if GOLDEN_NAME in run.name else run).exists():
            raise ConfigurationError(
                f"run: {run} does not exist; correct rankcheck_run or --rankcheck-run"
            )
        return run

    def run_file(self, golden_name: str, label: str = "") -> Path:
        """Return the file or folder of the configured run that has the run of a golden set."""
        from pytest_rankcheck.plugin.saved_runs import saved_run

        path = self.run_path
        if path.is_dir():
            return saved_run(path, golden_name, label)
        return path.with_name(path.name.replace(GOLDEN_NAME, golden_name))

    def read_run(self, path: Path) -> Run:
        """Return the whole run of a file, read by the configured conventions.

        Raises:
            RunError: it cannot be read.
        """
        from pytest_rankcheck.rankers.run import Run

        judged = [*self.config.golden, *self._judged]
        return Run.load(
            path,
            columns=self._columns(path, judged, _OF_GOLDEN_SETS),
            ties=self.conventions.ties,
            duplicates=self.conventions.duplicates,
            doc_id=self.doc_id,
        )

    def run_of(self, golden_name: str, label: str = "") -> Run:
        """Return the configured run of a golden set, cut to the configured depth.

        Args:
            golden_name: the golden set that was ranked.
            label: the ids of the parameters that chose the run, as where it was saved.
        """
        run = self.of_golden(golden_name).read_run(self.run_file(golden_name, label))
        return run.with_facts(asked=golden_name).top(self.config.depth)

    def evaluation(self, run: Run | Sequence[Run], golden: GoldenSet) -> Evaluation:
        """Return the evaluation of a run, or of several, by the configured conventions."""
        from pytest_rankcheck.evaluation.measured_runs import evaluation_of

        # A run from the user's own fixture may have been made with other ties and duplicates.
        first: Any = run[0] if isinstance(run, Sequence) and run else run
        ties = self.conventions.ties if self.conventions.ties == "worst" else first.ties
        chosen = replace(self.conventions, ties=ties, duplicates=first.duplicates)
        return evaluation_of(run, golden, chosen)

    @property
    def ranker(self) -> object:
        """The configured ranker, which is made once; its module may raise anything."""
        if not (self.has_own_ranker or self.config.ranker):
            raise _missing("ranker")
        return self.rankers.made(1)

    @cached_property
    def rankers(self) -> MadeRankers:
        """The configured rankers; each is made when it is first needed."""
        from pytest_rankcheck.rankers.ranker_lookup import MadeRankers, NamedRanker, load_ranker

        if (own := self._make_ranker) is not None:
            return MadeRankers("", lambda *_: own())
        # Each worker of an executor makes its own ranker.
        make = load_ranker if self.config.executor is None else NamedRanker
        return MadeRankers(self.config.ranker or "", make)

    # --- metrics, gates and the linter -------------------------------------------------------

    @cached_property
    def metrics(self) -> Sequence[Metric]:
        """The metrics of ``rankcheck_metrics``."""
        from pytest_rankcheck.metrics.metric_names import Metric

        with _named("rankcheck_metrics"):
            return [Metric.parse(name) for name in self.config.metrics]

    @cached_property
    def gates(self) -> ConfiguredGates:
        """The gates of ``rankcheck_gate``."""
        from pytest_rankcheck.gates.configured_gates import ConfiguredGates

        names = [shown_name(path) for path in (*self.config.golden, *self.config.sessions)]
        with _named("rankcheck_gate"):
            return ConfiguredGates.parse(self.config.gate_lines, names)

    @cached_property
    def documents(self) -> Documents | None:
        """The configured documents, whose file exists."""
        path = self._beside("documents")
        if path is None:
            return None
        from pytest_rankcheck.golden.documents import Documents

        return Documents(path, self.config.columns, self.doc_id)

    @cached_property
    def interactions(self) -> Interactions | None:
        """The configured interactions."""
        path = self._beside("interactions")
        if path is None:
            return None
        from pytest_rankcheck.golden.documents import Interactions

        return Interactions(path, self.config.columns, self.doc_id)

    def _beside(self, option: str) -> Path | None:
        """Return the existing file that an option names; None without one."""
        path: Path | None = getattr(self.config, option)
        return path and shorter(_present(option, [path], option)[0])

    def lint_options(self) -> LintOptions:
        """Return the options of the linter."""
        from pytest_rankcheck.golden.lint.lint_rule import LintOptions
        from pytest_rankcheck.golden.lint.linter import all_rules

        with _named("rankcheck_lint"):
            names = [rule.name for rule in all_rules()]
            options = LintOptions.parse(self.config.lint_lines, names)
        options = replace(options, no_relevant=self.conventions.no_relevant)
        if self.config.contradictions == "error":
            return options
        # A project that configures which of two grades counts is not stopped by them.
        return replace(options, levels={"contradictory-judgment": "warning", **options.levels})


def _missing(fixture: str) -> ConfigurationError:
    """Return the error for an input that a fixture needs, with every way to give it."""
    kind, (name, example, code) = fixture.replace("_", " "), _EXAMPLES[fixture]
    return ConfigurationError(
        f"no {kind}: the fixture {fixture} needs one. Set it in the configuration,\n"
        f'    rankcheck_{name} = "{example}"\n'
        f"on the command line, with --rankcheck-{name} {example}, or as a fixture,\n"
        '    @pytest.fixture(scope="session")\n'
        f"    def {fixture}():\n"
        f"        return {code}"
    )


def _present(kind: str, paths: Sequence[Path], option: str) -> Sequence[Path]:
    """Return paths, after checking that each exists or is a pattern that matches a file."""
    missing = next((path for path in paths if not matches_any(path)), None)
    if missing is not None:
        problem = "matches no file" if is_pattern(missing) else "does not exist"
        raise ConfigurationError(
            f"{kind}: {missing} {problem}; correct rankcheck_{option} or --rankcheck-{option}"
        )
    return paths


def shorter(path: Path) -> Path:
    """Return a path for messages, relative to the working directory if it is inside."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


@contextmanager
def _named(ini: str) -> Iterator[None]:
    """Name the wrong line of the configuration file."""
    try:
        yield
    except (ConfigurationError, GoldenSetError, MetricError) as error:
        raise ConfigurationError(f"{ini}: {error}") from None


# --- the lines of a configuration that are for one golden set only, such as web: query=prompt ---


def lines_for(golden_name: str, lines: Iterable[str]) -> Mapping[str, str]:
    """Return the lines of an option for all golden sets, then those for one, without its name."""
    scope = f"{golden_name}: "
    of_all = {line: line for line in lines if not _OF_SET.match(line)}
    return of_all | {each: each.removeprefix(scope) for each in lines if each.startswith(scope)}


def config_of_set(config: Config, name: str) -> Config:
    """Return a configuration with the lines for all golden sets, and those for one of them."""
    keys = lines_for(name, config.columns)
    columns = {meaning: config.columns[key] for key, meaning in keys.items()}
    rules = tuple(lines_for(name, config.doc_id_lines).values())
    return Config(**{**vars(config), "columns": columns, "doc_id_lines": rules})


def unknown_sets(config: Config) -> Sequence[str]:
    """Return the sets that columns and document id rules name but that are not configured."""
    known = {*map(shown_name, config.golden)}
    found = map(_OF_SET.match, (*config.columns, *config.doc_id_lines))
    return [each[1] for each in found if each and each[1] not in known]


def doc_id_rule(config: Config) -> DocIdRule | None:
    """Return how the ids of one golden set and its runs are mapped; None if they are not.

    A run that was saved after its ids had been mapped is mapped again, so an id that is already
    mapped must stay as it is; the function checks that.
    """
    if not config.doc_id_lines:
        return None
    from pytest_rankcheck.document_ids import DocIdMap, is_named_rule
    from pytest_rankcheck.golden.documents import with_column_rules
    from pytest_rankcheck.rankers.ranker_lookup import named_object

    rules: list[Any] = [
        line if is_named_rule(line) or ":" not in line else named_object(line, "function")
        for line in config.doc_id_lines
    ]
    to_id = DocIdMap(with_column_rules(rules, config.documents, config.columns))

    def rankcheck_doc_id(doc_id: str) -> str:
        mapped = to_id(doc_id)
        if to_id(mapped) != mapped:
            raise ConfigurationError(
                f"rankcheck_doc_id={quoted(to_id.name)} maps document '{quoted(doc_id)}' to "
                f"'{quoted(mapped)}', and that to another id; saved runs are mapped again, so it "
                "must leave a mapped id as it is, or give doc_id= where one side is made"
            )
        return mapped

    rankcheck_doc_id.__qualname__ = to_id.name
    return rankcheck_doc_id
