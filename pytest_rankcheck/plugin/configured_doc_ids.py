"""The mapping of document ids that ``rankcheck_doc_id`` configures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule

__all__ = ["configured_doc_id"]


def configured_doc_id(config: Config) -> DocIdRule | None:
    """Return how the ids of golden sets and runs are mapped; None if they are not.

    Golden sets and runs are mapped alike, and so is a run that was saved after its ids had been
    mapped. So an id that is already mapped must stay as it is; the function that is returned
    checks that.

    Raises:
        ConfigurationError: a line is neither a named rule nor a function that can be found.
        Exception: raised by the module of a function on import.
    """
    if not config.doc_id_lines:
        return None
    from pytest_rankcheck.document_ids import DocIdMap, is_named_rule

    try:
        to_id = DocIdMap(
            [line if is_named_rule(line) else _function(line) for line in config.doc_id_lines]
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"rankcheck_doc_id: {error}") from None

    def rankcheck_doc_id(doc_id: str) -> str:
        mapped = to_id(doc_id)
        again = to_id(mapped)
        if again != mapped:
            raise ConfigurationError(
                f"rankcheck_doc_id={quoted(to_id.name)} maps document '{quoted(doc_id)}' to "
                f"'{quoted(mapped)}', and that to '{quoted(again)}'; it maps golden sets, runs and "
                "saved runs, so it must leave a mapped id as it is. To map only one side, give "
                "doc_id= where that side is made"
            )
        return mapped

    return rankcheck_doc_id


def _function(line: str) -> Callable[[str], str]:
    """Return the function that a line names.

    Raises:
        ConfigurationError: it is not found, or cannot be called.
    """
    from pytest_rankcheck.document_ids import DocIdMap
    from pytest_rankcheck.rankers.ranker_lookup import named_object

    if ":" not in line:
        DocIdMap(line)  # raises the error that lists the named rules
    function = named_object(line, "function")
    if not callable(function):
        raise ConfigurationError(f"'{quoted(line)}' is {type(function).__name__}, not a function")
    return cast("Callable[[str], str]", function)
