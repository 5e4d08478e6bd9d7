"""The golden sets of a project, as they are configured: checked, and each read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pytest_rankcheck.errors import ConfigurationError, GoldenSetError
from pytest_rankcheck.files.file_patterns import is_pattern, matches_any
from pytest_rankcheck.files.packed_files import shown_name
from pytest_rankcheck.plugin.configured_doc_ids import configured_doc_id
from pytest_rankcheck.plugin.option_table import Config

if TYPE_CHECKING:
    from pytest_rankcheck.golden.golden_contents import Contents
    from pytest_rankcheck.golden.golden_set import GoldenSet

__all__ = ["check_golden", "loaded_golden", "refuse_missing"]

_READ: WeakKeyDictionary[Config, dict[tuple[Path, str, str | None], Contents]] = WeakKeyDictionary()
"""What was read of several configured sets: one may have to know the attributes of the others."""


def check_golden(config: Config) -> None:
    """Refuse a configuration without a golden set, or with one that is not there.

    Raises:
        ConfigurationError: naming the ways to give one.
    """
    if not config.golden:
        raise ConfigurationError(
            "no golden set: the fixture golden_set needs one. Set it in the configuration,\n"
            '    rankcheck_golden = "golden/web.jsonl"\n'
            "on the command line, with --rankcheck-golden golden/web.jsonl, or as a fixture,\n"
            '    @pytest.fixture(scope="session")\n'
            "    def golden_set():\n"
            '        return GoldenSet.load("golden/web.jsonl")'
        )
    refuse_missing("golden set", config.golden, "golden")


def refuse_missing(kind: str, paths: Sequence[Path], option: str) -> None:
    """Refuse a configured file that does not exist, or a pattern that matches no file."""
    missing = next((path for path in paths if not matches_any(path)), None)
    if missing is not None:
        problem = "matches no file" if is_pattern(missing) else "does not exist"
        raise ConfigurationError(
            f"{kind}: {missing} {problem}; correct rankcheck_{option} or --rankcheck-{option}"
        )


def loaded_golden(
    config: Config, path: Path, contradictions: str | None = None, format: str | None = None
) -> GoldenSet:
    """Return the golden set at ``path``, read as configured.

    Of several configured sets, one may lack an attribute that another has, and one may have grades
    although ``rankcheck_grades`` is the grade of every row of another.

    Args:
        config: the configuration.
        path: the file or folder.
        contradictions: overrides what is configured for a document that is judged twice.
        format: the format; without it, the content decides.

    Raises:
        GoldenSetError: it cannot be read, or a column by which `rankcheck_slices` gates is not an
            attribute.
    """
    from pytest_rankcheck.golden.golden_set import GoldenSet

    rule = contradictions or config.contradictions
    contents = _contents(config, path, rule, format)
    if not set(config.attributes) <= set(contents.attributes):
        contents.check_attributes(elsewhere=list(_attributes_elsewhere(config, path, rule)))
    golden = GoldenSet(contents, shown_name(path))
    for attribute in config.slices:
        golden.check_no_feature(attribute)
    return golden


def _attributes_elsewhere(config: Config, path: Path, rule: str) -> Iterator[str]:
    """Yield the attributes of the other configured sets; one that cannot be read may have any."""
    for other in _others(config, path):
        try:
            yield from _contents(config, other, rule).attributes
        except GoldenSetError:  # its own test says what is wrong with it
            yield from config.attributes


def _others(config: Config, path: Path) -> Sequence[Path]:
    return [other for other in config.golden if other != path]


def _contents(config: Config, path: Path, rule: str, format: str | None = None) -> Contents:
    """Return the contents of a golden set; of several sets, each is read once.

    Raises:
        GoldenSetError: it cannot be read.
    """
    from pytest_rankcheck.golden.golden_files import contents_of_file
    from pytest_rankcheck.golden.golden_source import Source

    read, key = _READ.setdefault(config, {}), (path, rule, format)
    if key in read:
        return read[key]
    is_shared, here = bool(_others(config, path)), Path.cwd()
    source = Source.of(
        path.relative_to(here) if path.is_relative_to(here) else path,  # shorter in messages
        grades=config.grades,
        columns=config.columns,
        split=config.split,
        contradictions=rule,
        attributes=config.attributes or None,
        scale=config.scale,
        is_shared=is_shared,
    )
    contents = contents_of_file(source, format, configured_doc_id(config))
    if is_shared:
        read[key] = contents
    return contents
