"""The commands that an output prints, and typing them."""

import re
import shlex
from collections.abc import Sequence

from project import git
from pull_request import Outcome, PullRequest

from pytest_rankcheck.command_line.main import main

_PRINTED = re.compile(r"^.*: ((?:pytest|git|python -m pytest_rankcheck) \S.*)$", re.MULTILINE)
_OF_TESTS = ("\nFAILED ", "takes the place of", "to retire it")
MOST_ROUNDS = 3
"""How often a command may end with the next command."""


def printed_commands(text: str) -> Sequence[str]:
    """Return the different commands that lines end with, without what pytest adds to a line."""
    return list(dict.fromkeys(found.strip() for found in _PRINTED.findall(text)))


def with_reason(command: str) -> str:
    """Return a command with a reason of somebody's own in place of the placeholder."""
    for placeholder in ("why this is acceptable", "why it is no longer needed"):
        command = command.replace(placeholder, "half the latency")
    return command


def type_in(branch: PullRequest, command: str) -> Outcome:
    """Run a command line as a shell would, in this process; return how pytest ended, if it ran."""
    outcome = Outcome(0, "")
    for part in with_reason(command).split(" && "):
        words = shlex.split(part)
        if words[0] == "git":
            git(branch.path, *words[1:])
        elif words[0] == "pytest":
            outcome = branch.run(*words[1:])
        else:
            assert main(words[3:]) == 0, command
    return outcome


def mend(branch: PullRequest, *arguments: str) -> Sequence[str]:
    """Type what CI prints until it is green and prints no command. Return what was typed.

    Each step prints one command at most, for each test that failed, was renamed or is gone.
    """
    typed: list[str] = []
    outcome = branch.ci(*arguments)
    for _ in range(MOST_ROUNDS):
        commands = printed_commands(outcome.terminal)
        if not commands:
            break
        text = f"after {typed}, {commands}:\n{outcome.terminal}"
        assert len(commands) <= max(1, sum(map(outcome.terminal.count, _OF_TESTS))), text
        typed += commands
        for command in commands:
            outcome = type_in(branch, command)
        if outcome.passed:
            outcome = branch.ci(*arguments)
    assert outcome.passed, f"{typed} do not help:\n{outcome.terminal}"
    assert not printed_commands(outcome.terminal), outcome.terminal
    return typed
