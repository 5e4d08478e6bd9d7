"""What would be blocked: the questions that assertions enter, and notes with the answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.proof.gate_questions import Question
from pytest_rankcheck.reports.findings import Note, ReportedFinding, Topic

if TYPE_CHECKING:
    from pytest_rankcheck.proof.proof import Proof, ProofRow


@dataclass(frozen=True, slots=True)
class QuestionFinding(ReportedFinding):
    """A question to ask about copies of the rankings that an assertion measured."""

    question: Question

    def with_test(self, test: str) -> QuestionFinding:
        """Return it with the test that asserts it."""
        return replace(self, question=replace(self.question, name=test.rpartition("::")[2]))


def proof_notes(
    findings: Iterable[ReportedFinding], sealed: Collection[str] = ()
) -> Iterator[Note]:
    """Yield a table for each golden set and its rankings: a line for each harm.

    Args:
        findings: all findings, including the questions.
        sealed: the golden sets whose queries are not named.
    """
    from pytest_rankcheck.proof.proof import alike, proof_of

    questions = [each.question for each in findings if isinstance(each, QuestionFinding)]
    if not questions:
        yield Note(Topic.PROOF, "no test gates whole rankings", "nothing")
    for asserted in alike(questions):
        try:
            yield from _lines(proof_of(asserted))
        except Exception as error:  # also of a metric or an expectation of the project
            is_sealed = asserted[0].evaluation.golden.name in sealed
            yield Note(Topic.PROOF, _reason(error, is_sealed=is_sealed), "unknown")


def _reason(error: Exception, *, is_sealed: bool) -> str:
    """Return why the proof failed, without naming a query of a sealed golden set."""
    text = type(error).__name__ if is_sealed else str(error)
    if isinstance(error, RankcheckError):
        return text
    what = text if is_sealed else f"{type(error).__name__}: {quoted(text)}"
    return f"the code of a test fails on a harmed ranking, such as an empty one: {what}"


def _lines(proof: Proof) -> Iterator[Note]:
    """Yield the notes of a table."""
    blocked, survives = (
        sum(row.outcome == outcome for row in proof.rows) for outcome in ("blocked", "survives")
    )
    about = (
        f"{blocked} of {blocked + survives} harms on golden set '{quoted(proof.golden_set)}', and "
        f"{proof.innocent:.0%} of innocent changes of the same size"
        f"{', not counting expectations' if proof.unasked else ''}"
    )
    harms = [quoted(_harm(row), 100) for row in proof.rows]
    width = max(map(len, harms))
    for row, harm in zip(proof.rows, harms, strict=True):
        word = "SURVIVES" if row.outcome == "survives" else row.outcome
        yield Note(Topic.PROOF, f"{word:8}  {harm:{width}}  {_answer(row, proof)}", about)
    if proof.blocks_innocents:
        test, share = proof.most_by
        text = f"{test} blocks most of them, {share:.0%}"
        yield Note(Topic.PROOF, f"{'innocent changes':{width + 10}}  {text}", about)


def _harm(row: ProofRow) -> str:
    """Return the name of a harm and the metric that it lowers most."""
    return f"{row.harm} ({row.metric} {row.change:+.3f})" if row.metric else row.harm


def _answer(row: ProofRow, proof: Proof) -> str:
    """Return what blocks a harm, or what would."""
    often = f"in {row.blocked} of {row.draws} draws" if row.draws > 1 else ""
    if row.outcome == "blocked":
        return ", ".join(filter(None, (quoted(row.blocked_by, 200), often)))
    if row.outcome == "harmless":
        return "lowers no mean"
    advice = "no gate can without blocking innocent changes; expectations can"
    if row.advice:
        advice = f"a gate of its own blocks it: {quoted(row.advice, 200)}"
    elif proof.blocks_innocents:
        advice = "no advice while the gates block so many innocent changes"
    return f"{advice}; blocked {often}" if row.blocked else advice
