"""Rank files, ``test_*.rank.toml``: modules of tests that are made from a table.

The tests, their fixtures and marks are pytest's own, so that all of pytest works on them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import pytest

from pytest_rankcheck.errors import RankcheckError, RankerError
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.fixtures import configured_fixtures
from pytest_rankcheck.plugin.inputs import FILE_INPUTS, Inputs
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.plugin.options import option_rows
from pytest_rankcheck.plugin.rank_file_table import RankFileTable, named_values, texts

_FIXTURES: Mapping[str, tuple[str, ...]] = {
    "at_least": ("evaluation",),
    "at_most": ("evaluation",),
    "not_regressed": ("evaluation", "baseline"),
    "expectations": ("ranking_run", "golden_set"),
}
"""The fixtures that each kind of check gets."""
_HOW_TO_ASK = ("timeout", "retries", "concurrency")


class RankFile(pytest.Module):
    """A rank file as a module of Python."""

    def _getobj(self) -> ModuleType:
        try:
            table = RankFileTable.read(self.path)
            inputs = file_inputs(table, self.config)
            module = ModuleType(self.path.name.removesuffix(".toml"))
            module.__file__ = str(self.path)
            vars(module).update(_fixtures(table, inputs.config, self.config))
            for name in table.values["test"]:
                setattr(module, f"test_{name}", _test(table, name, module, self.config))
        except RankcheckError as error:
            raise self.CollectError(str(error)) from None
        self.stash[FILE_INPUTS] = inputs
        return module


# --- what is measured ----------------------------------------------------------------------------


def file_inputs(table: RankFileTable, config: pytest.Config) -> Inputs:
    """Return the inputs of a rank file: options of the command line, the file, the configuration.

    Raises:
        ConfigurationError: a golden set of the file does not exist.
    """
    values, chosen = table.values, dict(vars(config.stash[CONFIG]))
    chosen |= {"depth": values.get("depth", chosen["depth"])}
    chosen |= {"failures": str(values.get("failures", chosen["failures"]))}
    if "metrics" in values:
        chosen["metrics"] = tuple(texts(values["metrics"]))
    if "conventions" in values:
        chosen["conventions"] = named_values(values["conventions"])
    if "golden" in values and not _is_given(config, "golden"):
        chosen["golden"] = table.paths("golden")
    candidates = values.get("candidate", {})
    if candidates:
        chosen["candidates"] = {
            name: partial(_made, table, given, "candidate", name)
            for name, given in candidates.items()
        }
    if not _has_ranker(table, config):
        return Inputs(Config(**chosen))
    ranker = values["ranker"]
    chosen |= {name: ranker[name] for name in _HOW_TO_ASK if name in ranker}
    chosen |= {"run": None, "ranker": ranker.get("python")}
    if "run" in ranker:
        chosen["run"] = table.beside(ranker["run"])
    make = None if "python" in ranker else partial(_made, table, ranker, "ranker")
    return Inputs(Config(**chosen), make)


def _has_ranker(table: RankFileTable, config: pytest.Config) -> bool:
    """Whether the ranker of the file counts."""
    return "ranker" in table.values and not any(_is_given(config, n) for n in ("run", "ranker"))


def _is_given(config: pytest.Config, name: str) -> bool:
    return bool(option_rows(Config)[name].on_command_line(config))


def _made(table: RankFileTable, given: Mapping[str, Any], *keys: str) -> object:
    """Return the ranker of a table such as ``[ranker]``; nothing is started.

    Raises:
        RankerError: an environment variable is not set.
        ConfigurationError: its arguments are invalid; the message names the line.
    """
    from pytest_rankcheck import rankers
    from pytest_rankcheck.rankers.adapters.http_ranker import unset_variables
    from pytest_rankcheck.rankers.ranker_lookup import load_ranker

    place = (*keys, *list(given)[:1])
    for name in unset_variables(str(given.get("http"))):
        problem = f"the environment variable {name} is not set; start pytest with it: {name}=..."
        raise RankerError(str(table.error(place, problem)))
    try:
        if "http" in given:
            return rankers.http(**given["http"])
        if "command" in given:
            return rankers.command(given["command"], cwd=table.path.parent)
    except RankcheckError as error:
        raise table.error(place, str(error)) from None
    return load_ranker(given["python"])


def _fixtures(
    table: RankFileTable, chosen: Config, config: pytest.Config
) -> Iterable[tuple[str, object]]:
    """Yield the fixtures that the file defines; all others come from its folder."""
    made = vars(configured_fixtures(chosen))
    if "golden" in table.values:
        yield "golden_set", made["golden_set"]
    if _has_ranker(table, config):
        yield "ranker", made["ranker"]
        yield "ranking_run", made["ranking_run"]


# --- its tests -----------------------------------------------------------------------------------


def _test(
    table: RankFileTable, name: str, module: ModuleType, config: pytest.Config
) -> Callable[..., None]:
    """Return a test function with the line numbers of the file, for tracebacks."""
    given = table.values["test"][name]
    checks = checks_of(table, name)
    fixtures = list(dict.fromkeys(each for check in checks for each in _FIXTURES[check]))
    lines = [f"def test({', '.join(fixtures)}):"]
    lines += [f" checks[{check!r}]({', '.join(_FIXTURES[check])})" for check in checks]
    tree = ast.parse("\n".join(lines))
    ast.increment_lineno(tree, table.line("test", name) - 1)
    for statement, check in zip(tree.body[0].body, checks, strict=True):  # type: ignore[attr-defined]
        ast.increment_lineno(statement, table.line("test", name, check) - statement.lineno)
    module_code = compile(tree, str(table.path), "exec")
    code = next(each for each in module_code.co_consts if isinstance(each, CodeType))
    code = code.replace(co_name=f"test_{name}", co_qualname=f"test_{name}")
    function: Any = FunctionType(code, {"checks": checks, "__name__": module.__name__})
    function.__test__ = True  # whatever python_functions says
    for mark in given.get("marks", ()):
        getattr(pytest.mark, mark)(function)
    if "golden" in given and not _is_given(config, "golden"):
        from pytest_rankcheck.files.packed_files import shown_name

        paths = table.paths("test", name, "golden")
        pytest.mark.parametrize("golden_set", paths, indirect=True, ids=shown_name)(function)
    return cast("Callable[..., None]", function)


def checks_of(table: RankFileTable, name: str) -> Mapping[str, Callable[..., None]]:
    """Return the checks of a test, in the order of the file.

    Raises:
        ConfigurationError: a metric or the gate is unknown; the message names the line.
    """
    given, checks = table.values["test"][name], {}
    for check in (key for key in given if key in _FIXTURES):
        try:
            checks[check] = _check(given, check)
        except RankcheckError as error:
            raise table.error(("test", name, check), str(error)) from None
    return checks


def _check(given: Mapping[str, Any], check: str) -> Callable[..., None]:
    """Return the assertion that a check of a test is.

    Raises:
        RankcheckError: a metric or the gate is unknown.
    """
    from pytest_rankcheck.assertions.behaviour_assertions import assert_expectations
    from pytest_rankcheck.assertions.bound_assertions import assert_at_least, assert_at_most
    from pytest_rankcheck.assertions.regression_assertion import assert_not_regressed
    from pytest_rankcheck.gates.configured_gates import gate_of
    from pytest_rankcheck.metrics.metric_names import Metric

    if check == "expectations":
        return assert_expectations
    by, named = given.get("by"), given[check]
    if check == "not_regressed":
        how = {key: given[key] for key in ("abs", "rel") if key in given}
        gate = gate_of(given["gate"]) if "gate" in given else None
        metrics = [*map(Metric.parse, texts(named))]
        return partial(assert_not_regressed, metric=metrics, gate=gate, by=by, **how)
    limits = {Metric.parse(metric): limit for metric, limit in named.items()}
    bound = assert_at_least if check == "at_least" else assert_at_most
    return partial(bound, metric=limits, by=by)
