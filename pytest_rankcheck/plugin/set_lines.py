"""The lines of a configuration that are for one golden set only, such as ``web: query=prompt``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.files.packed_files import shown_name
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule

_OF_SET = re.compile(r"([^=:]+): \S")
"""How a line for one golden set begins."""


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
                f"'{quoted(mapped)}', and that to '{quoted(to_id(mapped))}'; saved runs are "
                "mapped again, so it must leave a mapped id as it is. To map only one side, "
                "give doc_id= where that side is made"
            )
        return mapped

    rankcheck_doc_id.__qualname__ = to_id.name
    return rankcheck_doc_id
