"""The reference commit, the world and the update mode of a test session, as configured."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.option_parsers import Given, SlideChoice, changes, slide

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.baselines.update_actions import Mode
    from pytest_rankcheck.baselines.world import World

__all__ = ["configured_mode", "configured_reference", "configured_world"]

_REFERENCE = pytest.StashKey["Reference"]()
_MODE = pytest.StashKey["Mode"]()
_WORLD = pytest.StashKey["World"]()


def configured_reference(config: pytest.Config) -> Reference | None:
    """Return the commit of ``--rankcheck-baseline-ref``; None without the option.

    Raises:
        ConfigurationError: git does not know the commit.
    """
    name = config.stash[CONFIG].baseline_ref
    if name is not None and _REFERENCE not in config.stash:
        from pytest_rankcheck.baselines.reference_commit import Reference

        config.stash[_REFERENCE] = Reference.of(name, config.rootpath)
    return config.stash.get(_REFERENCE, None)


def configured_world(config: pytest.Config) -> World:
    """Return the hashes and versions of what ``rankcheck_world`` declares, which are read once.

    Raises:
        ConfigurationError: a file is missing or cannot be read, or a package is not installed.
    """
    from pytest_rankcheck.baselines.world import declared_world

    if _WORLD not in config.stash:
        config.stash[_WORLD] = declared_world(config.stash[CONFIG].world, config.rootpath)
    return config.stash[_WORLD]


def configured_mode(config: pytest.Config) -> Mode:
    """Return what the test session may do to baselines.

    Against a reference commit, what counts as a failure is configured there too: the stricter of
    the two counts, so that a branch cannot switch it off.

    Raises:
        ConfigurationError: git does not know the commit.
    """
    if _MODE not in config.stash:
        from pytest_rankcheck.baselines.update_actions import Mode

        chosen, reference = config.stash[CONFIG], configured_reference(config)
        mode = Mode(
            chosen.update,
            chosen.new_only,
            chosen.approval,
            chosen.raising,
            inconclusive=chosen.inconclusive,
            suspicious=chosen.suspicious,
            leak_budget=chosen.leak_budget,
            slide=chosen.slide.action,
            slide_level=chosen.slide.level,
            slide_steps=chosen.slide_steps,
        )
        config.stash[_MODE] = mode if reference is None else _at_least(mode, config, reference)
    return config.stash[_MODE]


def _at_least(mode: Mode, config: pytest.Config, reference: Reference) -> Mode:
    """Return a mode that is at least as strict as the one configured at a commit."""
    from pytest_rankcheck.gates.slide import SLIDE_LEVEL
    from pytest_rankcheck.plugin.reference_configuration import configuration_at

    then = configuration_at(reference, config)
    budgets = [] if mode.leak_budget is None else [mode.leak_budget]
    with suppress(KeyError, ValueError):
        budgets.append(float(str(then["rankcheck_leak_budget"])))
    guard, steps = SlideChoice(), mode.slide_steps
    with suppress(ConfigurationError):
        text = str(then.get("rankcheck_slide", ""))
        guard = slide(Given("rankcheck_slide", text, config.rootpath))
    with suppress(ConfigurationError):
        number = str(then.get("rankcheck_slide_steps", ""))
        steps = changes(Given("rankcheck_slide_steps", number, config.rootpath)) or steps
    return replace(
        mode,
        inconclusive=_stricter(mode.inconclusive, then.get("rankcheck_inconclusive")),
        suspicious=_stricter(mode.suspicious, then.get("rankcheck_suspicious")),
        leak_budget=min(budgets, default=None),
        slide=_stricter(mode.slide, guard.action),
        slide_level=max(mode.slide_level or SLIDE_LEVEL, guard.level or SLIDE_LEVEL),
        slide_steps=steps,
    )


def _stricter(word: str, other: object) -> str:
    """Return the stricter of two words for what to do; anything else than these is not a word."""
    words = ("pass", "ignore", "off", "warn", "fail")
    return max(word, str(other), key=words.index) if other in words else word
