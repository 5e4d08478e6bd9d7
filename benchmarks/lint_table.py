"""The manual's table of 16 corruptions: which rule finds each, how often, and how often in vain.

    python benchmarks/lint_table.py --write      # and write the table into the manual

`lint_corruptions` plants 11 of them into samples of the clean sets of `lint_samples`, and
`lint_comparisons` plants 5 into Cranfield. All draws are seeded: the table is the same every time.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import lint_comparisons
import lint_corruptions
from lint_samples import POPULATIONS
from manual_parts import DOCS, write_part
from rates import Rate

DRAWS, TRIALS = 40, 200
PAGE = DOCS / "golden-sets.md"


@dataclass(frozen=True)
class Row:
    """A corruption, and what the linter finds of it."""

    name: str
    rules: Sequence[str]
    found: Rate
    alone: Rate
    """Without the corpus, and without a run."""
    alarms: Rate
    """Where nothing is planted."""

    def __str__(self) -> str:
        rules = ", ".join(f"`{rule}`" for rule in self.rules)
        samples = f"{self.found.draws:,} / {self.alarms.draws:,}"
        rates = " | ".join(
            str(rate) if rate.draws else "-" for rate in (self.found, self.alone, self.alarms)
        )
        return f"| {self.name} | {rules} | {rates} | {samples} |"


def planted_rows(names: Sequence[str], draws: int, total: Mapping[str, int]) -> Iterator[Row]:
    """Yield the rows of the corruptions of samples.

    Args:
        names: the clean sets.
        draws: how many samples of each.
        total: in how many of the clean samples each rule finds something.
    """
    rates = lint_corruptions.found_rates(names, draws)
    for each in lint_corruptions.CORRUPTIONS:
        alarms = Rate(sum(total[rule] for rule in each.rules), draws * len(names))
        yield Row(each.name, each.rules, *rates[each.name], alarms)


def compared_rows(trials: int) -> Iterator[Row]:
    """Yield the rows of the corruptions that show only in a comparison."""
    for each in lint_comparisons.COMPARISONS if trials else ():
        yield Row(each.name, [each.rule], *lint_comparisons.found_rates(each, trials))


def other_alarms(counts: Mapping[str, Counter[str]], draws: int, named: set[str]) -> Iterator[str]:
    """Yield what the other rules report of the clean samples, as sentences.

    Args:
        counts: in how many samples of each clean set each rule finds something.
        draws: how many samples there are of each.
        named: the rules in the table.
    """
    samples = draws * len(counts)
    found = {
        rule: [name for name, count in counts.items() if count[rule]]
        for rule in sorted({rule for count in counts.values() for rule in count})
    }

    def listed(rules: Sequence[str]) -> str:
        total = {rule: sum(count[rule] for count in counts.values()) for rule in rules}
        return "; ".join(f"`{rule}` in {total[rule]} ({', '.join(found[rule])})" for rule in rules)

    true = [rule for rule in found if rule in lint_corruptions.TRUE_OF_SAMPLES]
    wrong = [rule for rule in found if rule not in {*true, *named}]
    yield f"The {samples:,} clean sets show the false alarms of all other rules that need no run:"
    if wrong:
        yield f"{listed(wrong)}."
    yield (
        f"{'No other rule' if wrong else 'no rule'} reported a fault that is not there, so the "
        f"rate of each is below {min(1, 3 / samples):.1%} (at 95%)."
    )
    if true:
        yield f"True of the samples: {listed(true)}."


def comparison_alarms(trials: int) -> Iterator[str]:
    """Yield what rules report of random rankings and of sound expectations, as a sentence."""
    rankings = lint_comparisons.random_rankings(trials)
    expecting = lint_comparisons.expectation_alarms(max(1, trials // 10))
    yield (
        f"Rankings in random order looked like a reversed scale in {rankings} of "
        f"{rankings.draws:,} draws, and"
    )
    yield (
        f"expectations that agree with the grades were reported in {expecting} of "
        f"{expecting.draws:,} sets."
    )


def unfound_documents(trials: int) -> Iterator[str]:
    """Yield how far apart clean and corrupted sets are for `stale-document`, as a sentence."""
    (compared,) = (each for each in lint_comparisons.COMPARISONS if each.rule == "stale-document")
    clean, planted = (
        [lint_comparisons.unfound_share(make(random.Random(seed))) for seed in range(trials)]
        for make in (compared.clean, compared.planted)
    )
    yield (
        f"Of the relevant documents, {min(clean):.0%} to {max(clean):.0%} were in no top 1,000 of "
        f"the clean sets, and {min(planted):.0%} to {max(planted):.0%} with stale documents."
    )


def lines(names: Sequence[str], draws: int, trials: int) -> Iterator[str]:
    """Yield the lines of the manual's table."""
    counts = lint_corruptions.clean_counts(names, draws)
    total = Counter[str]()
    for count in counts.values():
        total.update(count)
    yield "| corruption | rule | found | by the set alone | false alarms | planted / clean sets |"
    yield "|---|---|---|---|---|---|"
    rows = list(planted_rows(names, draws, total))
    yield from map(str, (*rows, *compared_rows(trials)))
    yield ""
    yield from other_alarms(counts, draws, {rule for row in rows for rule in row.rules})
    if trials:
        yield from comparison_alarms(trials)
        yield from unfound_documents(trials)


def main() -> None:
    """Print the table, and write it into the manual if that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--sets", nargs="+", choices=list(POPULATIONS), default=list(POPULATIONS))
    parser.add_argument("--trials", type=int, default=TRIALS, help="0: without the comparisons")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    text = "\n".join(lines(chosen.sets, chosen.draws, chosen.trials)) + "\n"
    print(text)
    if chosen.write:
        write_part(PAGE, "corruptions", text)


if __name__ == "__main__":
    main()
