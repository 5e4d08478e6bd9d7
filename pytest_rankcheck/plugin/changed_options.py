"""What a branch changes of the options, against a reference commit: listed, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.approval import Key, covers
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.plugin.baseline_settings import BaselineSettings
from pytest_rankcheck.plugin.unrun_gates import readable_record
from pytest_rankcheck.remedies import approve_all
from pytest_rankcheck.reports.findings import Note, Topic

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference

_FIRST = ("rankcheck_ranker", "rankcheck_run", "rankcheck_doc_id")
"""What can hide a worse ranker is listed first."""


def option_notes(settings: BaselineSettings, reference: Reference) -> Iterator[Note]:
    """Yield the options that this branch changes; a loosened one fails without a reason.

    Args:
        settings: of the test session.
        reference: the commit whose baselines count.
    """
    then, now = settings.at_reference, settings.here
    names = [name for name in {**then, **now} if name.startswith("rankcheck_") or name == "addopts"]
    loosened = {key.subject: key for key in settings.loosened}
    given = _new_keys(reference) if loosened else ()
    for name in sorted(names, key=lambda name: (name not in _FIRST, name)):
        if then.get(name) == now.get(name):
            continue
        text = f"{name}: {_shown(then, name)} -> {_shown(now, name)}"
        failure, key = None, loosened.get(name)
        if key is not None and not covers(given, key):
            text = f"{text}; the stricter one counts, and this needs a reason"
            failure = f"{text}\n  {approve_all(reference.name)}"
        yield Note(Topic.OPTIONS, text, quoted(reference.name), failure)


def _shown(values: Mapping[str, object], name: str) -> str:
    value = values.get(name, "not set")
    return quoted(" ".join(map(str, value)) if isinstance(value, list) else str(value), 200)


def _new_keys(reference: Reference) -> Sequence[Key]:
    """Return the keys that approvals of this branch give."""
    keys: list[Key] = []
    for change in reference.changes(reference.folder):
        before = readable_record(change.before, change.path)
        after = readable_record(change.after, change.path)
        merged = before.approvals if before else ()
        for approval in after.approvals if after else ():
            keys += approval.keys if approval not in merged else ()
    return keys
