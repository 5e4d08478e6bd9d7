"""Rules that map document ids, and the search for a rule by which two kinds of ids meet."""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from urllib.parse import unquote

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion

__all__ = [
    "DocIdMap",
    "DocIdRule",
    "IdSample",
    "differences",
    "is_named_rule",
    "joining_rule",
    "last_mark",
    "queries_that_meet",
]

Rule = str | Callable[[str], str]
DocIdRule = Rule | Sequence[Rule]
"""A named rule such as ``"lower"`` or ``"before:#"``, a function, or several, applied in order."""

IdSample = tuple[Collection[str], Collection[str]]
"""The judged and the ranked documents of a query."""

_FEW = 20
"""How many queries are searched for a common prefix or suffix."""

_MOST_CUTS = 12
"""How many prefixes and suffixes are tried."""

_ENOUGH, _ENOUGH_IN_WORDS = 2, 3
"""How many queries must have a prefix or suffix, and how many one that is cut within a word."""

_PREFIX_CUTS = ("remove_prefix", "after")


def _without_zeros(doc_id: str) -> str:
    """Return a whole number without leading zeros; other ids are unchanged."""
    return (doc_id.lstrip("0") or "0") if doc_id.isdecimal() else doc_id


_SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "strip": str.strip,
    "unquote": unquote,
    "nfc": lambda doc_id: unicodedata.normalize("NFC", doc_id),
    "lower": str.lower,
    "strip_zeros": _without_zeros,
}
"""The rules without an argument, in the order in which a suggestion applies them."""

_CUTS: Mapping[str, Callable[[str, str], str]] = {
    "remove_prefix": str.removeprefix,
    "remove_suffix": str.removesuffix,
    "before": lambda doc_id, mark: doc_id.partition(mark)[0],
    "after": lambda doc_id, mark: doc_id.rpartition(mark)[2],
}
"""The rules with an argument, such as ``before:#``: the part before the first ``#``."""


class DocIdMap:
    """The mapping that ``doc_id=`` describes.

    Args:
        rule: a named rule, a function from an id to an id, or several of them.

    Raises:
        ConfigurationError: the rule is unknown, or neither a name nor a function.
    """

    def __init__(self, rule: DocIdRule) -> None:
        rules = [rule] if isinstance(rule, str) or callable(rule) else rule
        if not isinstance(rules, Sequence) or not rules:
            raise _invalid(rule)
        self.name = ", ".join(each if isinstance(each, str) else _name(each) for each in rules)
        """The rule as messages show it."""
        self._rules = tuple(rules)
        self._steps = [_function(each) for each in rules]

    def __reduce__(self) -> tuple[type[DocIdMap], tuple[Sequence[Rule]]]:
        """Pickle the rules, not the functions made from them."""
        return type(self), (self._rules,)

    def __call__(self, doc_id: str) -> str:
        """Return the id to which a document id is mapped.

        Raises:
            ConfigurationError: a function failed, or the result is not an id.
        """
        mapped: object = doc_id
        try:
            for step in self._steps:
                mapped = step(mapped)  # type: ignore[arg-type]
        except ConfigurationError:
            raise
        except Exception as error:
            raise ConfigurationError(
                f"doc_id={quoted(self.name)} failed on document '{quoted(doc_id)}': "
                f"{type(error).__name__}: {quoted(error, 300)}"
            ) from error
        if isinstance(mapped, str) and mapped:
            return str(mapped)
        raise ConfigurationError(
            f"doc_id={quoted(self.name)} maps document '{quoted(doc_id)}' to "
            f"{quoted(repr(mapped), 60)}; an id is a text that is not empty"
        )


def is_named_rule(text: str) -> bool:
    """Whether a text is a named rule, or meant as one: ``before:`` without its argument is."""
    return text.partition(":")[0] in {*_SPELLINGS, *_CUTS}


def _function(rule: Rule) -> Callable[[str], str]:
    """Return the function of one rule.

    Raises:
        ConfigurationError: the rule is unknown, or lacks its argument.
    """
    if not isinstance(rule, str):
        if callable(rule):
            return rule
        raise _invalid(rule)
    name, colon, argument = rule.partition(":")
    if rule in _SPELLINGS:
        return _SPELLINGS[rule]
    if name in _CUTS and argument:
        cut = _CUTS[name]
        return lambda doc_id: cut(doc_id, argument)
    if name in _SPELLINGS and colon:
        raise ConfigurationError(f"doc_id={quoted(rule)} is invalid; '{name}' takes no argument")
    if name in _CUTS:
        raise ConfigurationError(f"doc_id={quoted(rule)} is invalid; write it like {name}:#")
    raise _invalid(rule)


def _invalid(rule: object) -> ConfigurationError:
    """Return the error for something that is not a rule."""
    names = [*_SPELLINGS, *_CUTS]
    hint = suggestion(rule.partition(":")[0], names) if isinstance(rule, str) else ""
    shown = [*_SPELLINGS, *(f"{name}:TEXT" for name in _CUTS)]
    return ConfigurationError(
        f"doc_id={quoted(rule, 60)} is invalid{hint}; give a function from an id to an id, or one "
        f'of {", ".join(shown)}; or a list of them, such as ["lower", "strip"]'
    )


def _name(function: object) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


_DIFFERENCES = {
    "strip": "white space",
    "unquote": "URL encoding",
    "nfc": "Unicode normalisation",
    "lower": "case",
    "strip_zeros": "leading zeros",
}


def differences(rules: Sequence[str]) -> str:
    """Return in words what the ids differ in that these named rules make equal."""
    words = (_DIFFERENCES.get(rule, "a prefix or suffix") for rule in rules)
    return " and ".join(dict.fromkeys(words))


def joining_rule(samples: Sequence[IdSample], enough: int = _ENOUGH) -> tuple[str, ...]:
    """Return the named rules by which judged and ranked documents meet, as few as possible.

    A prefix or suffix is not suggested if different judged documents would become one without it:
    they would all be found, wherever the right one is.

    Args:
        samples: the judged and the ranked documents of queries where the two never meet.
        enough: in how many queries a prefix or suffix must occur.

    Returns:
        The rules that make documents meet in the most queries; empty if no rule does.
    """
    best: tuple[str, ...] = ()
    most = 0
    for size in (1, 2):
        for rules, mapped in _candidates(samples, size, enough):
            count = queries_that_meet(mapped)
            if count > most:
                best, most = rules, count
        if 2 * most >= len(samples):
            break  # two rules would hardly do better
    return best


def _candidates(
    samples: Sequence[IdSample], size: int, enough: int
) -> Iterator[tuple[tuple[str, ...], Sequence[IdSample]]]:
    """Yield rules of this size, with the samples mapped by them: first those without a cut."""
    for spellings in itertools.combinations(_SPELLINGS, size):
        yield spellings, _mapped(samples, spellings)
    for spellings in itertools.combinations(_SPELLINGS, size - 1):
        spelled = _mapped(samples, spellings)
        different = _judged(spelled)
        for cuts in _cuts(spelled, enough):
            shortened = _mapped(spelled, cuts)
            if _judged(shortened) == different:
                yield (*spellings, *cuts), shortened


def _judged(samples: Sequence[IdSample]) -> int:
    """Return the number of different judged documents."""
    return len({doc_id for judged, _ in samples for doc_id in judged})


def _mapped(samples: Sequence[IdSample], rules: Sequence[str]) -> Sequence[IdSample]:
    """Return the samples with their ids mapped."""
    functions = [_function(rule) for rule in rules]

    def mapped(doc_ids: Collection[str]) -> Collection[str]:
        for function in functions:
            doc_ids = {function(doc_id) for doc_id in doc_ids}
        return doc_ids

    return [(mapped(judged), mapped(ranked)) for judged, ranked in samples] if rules else samples


def queries_that_meet(samples: Sequence[IdSample]) -> int:
    """Return in how many queries a document is both judged and ranked; 0 if an id is empty."""
    if any("" in judged or "" in ranked for judged, ranked in samples):
        return 0
    return sum(not set(judged).isdisjoint(ranked) for judged, ranked in samples)


def _cuts(samples: Sequence[IdSample], enough: int) -> Iterator[tuple[str, ...]]:
    """Yield the cuts that could make documents meet, the most frequent first.

    A cut within a word needs more queries: ``banana`` and ``a`` do not suggest that ``banan`` is a
    prefix.
    """
    counts: Counter[str] = Counter()
    for judged, ranked in samples[:_FEW]:
        cuts: dict[str, int] = {}
        for one_side, other_side in ((judged, set(ranked)), (ranked, set(judged))):
            for doc_id in sorted(one_side):
                cuts.update(dict.fromkeys(_cuts_to(other_side, doc_id), 1))
        counts.update(cuts)
    for cut, count in counts.most_common(_MOST_CUTS):
        name, _, text = cut.partition(":")
        mark = text[-1] if name in _PREFIX_CUTS else text[0]
        if count >= (max(enough, _ENOUGH_IN_WORDS) if mark.isalnum() else enough):
            yield (cut,)
            if name in _PREFIX_CUTS:
                yield (cut, "strip_zeros")


def _cuts_to(doc_ids: Collection[str], long: str) -> Iterator[str]:
    """Yield the cuts that turn a longer id into one of these, the likelier ones first.

    Both sides are mapped by the same rule, so it must leave the shorter id alone: no cut at a mark
    that this id has too.
    """
    for place in range(1, len(long)):
        start, end = long[:place], long[place:]
        if end in doc_ids:
            yield f"remove_prefix:{start.rstrip('0') or start}"
            if not start[-1].isalnum() and start[-1] not in end:
                yield f"after:{start[-1]}"
        if start in doc_ids:
            cuts = [f"remove_suffix:{end}"]
            if not end[0].isalnum() and end[0] not in start:
                cuts.append(f"before:{end[0]}")
            # A number is that of a chunk, and others have another one.
            yield from reversed(cuts) if any(map(str.isdigit, end)) else cuts


def last_mark(samples: Sequence[IdSample], more_than: int) -> str:
    """Return the mark whose last occurrence in ranked ids ends the judged id, as in ``doc-7-3``.

    Args:
        samples: the judged and the ranked documents of queries where the two never meet.
        more_than: documents must meet in more queries than this, and in at least two.

    Returns:
        The mark that makes documents meet in the most queries; empty if no mark does.
    """
    counts = Counter(
        mark
        for judged, ranked in samples
        for mark in {
            doc_id[place]
            for doc_id in ranked
            for place in range(1, len(doc_id) - 1)
            if not doc_id[place].isalnum()
            and doc_id[place] not in doc_id[place + 1 :]
            and doc_id[:place] in judged
        }
    )
    mark, count = max(counts.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    return mark if count >= _ENOUGH and count > more_than else ""
