"""Rules that map document ids, and the search for a rule by which two kinds of ids match."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion

Rule = str | Callable[[str], str]
DocIdRule = Rule | Sequence[Rule]
"""A named rule such as ``"lower"`` or ``"before:#"``, a function, or several, applied in order."""

IdSample = tuple[Collection[str], Collection[str]]
"""The judged and the ranked documents of a query."""


def _without_zeros(doc_id: str) -> str:
    """Return a whole number without leading zeros; other ids are unchanged."""
    return (doc_id.lstrip("0") or "0") if doc_id.isdecimal() else doc_id


_SPELLINGS: Mapping[str, tuple[Callable[[str], str], str]] = {
    "strip": (str.strip, "white space"),
    "unquote": (unquote, "URL encoding"),
    "nfc": (lambda doc_id: unicodedata.normalize("NFC", doc_id), "Unicode normalisation"),
    "lower": (str.lower, "case"),
    "strip_zeros": (_without_zeros, "leading zeros"),
}
"""The rules without an argument, in the order in which a suggestion applies them, and the
difference between ids that each removes."""

_CUTS: Mapping[str, tuple[Callable[[str, str], str], str]] = {
    "remove_prefix": (str.removeprefix, "the beginning"),
    "remove_suffix": (str.removesuffix, "the end"),
    "before": (lambda doc_id, mark: doc_id.partition(mark)[0], "what follows the first"),
    "after": (lambda doc_id, mark: doc_id.rpartition(mark)[2], "what precedes the last"),
}
"""The rules with an argument, such as ``before:#`` (the part before the first ``#``), and what they
cut off, in the words of a suggestion."""
_BORDER = re.compile(r"[^\w\s]|_|(?<=[^\W\d_])(?=\d)")
"""Where an id may be cut: at a mark, or before the number in ``doc7``."""
_TRIED_CUTS, _CUT_IDS = 6, 100
"""How many cuts are tried, and how many ids of each side can suggest one."""


ATTRIBUTE = "attribute:"
"""The beginning of ``attribute:source``, which a golden set looks up in its documents."""


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
        names = (getattr(each, "__qualname__", type(each).__qualname__) for each in rules)
        self.name = ", ".join(
            each if isinstance(each, str) else name for each, name in zip(rules, names, strict=True)
        )
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
        except Exception as error:
            raise ConfigurationError(
                f"doc_id={quoted(self.name)} failed on document '{quoted(doc_id)}': "
                f"{type(error).__name__}: {quoted(error, 300)}"
            ) from error
        if isinstance(mapped, str) and mapped:
            return str(mapped)
        raise ConfigurationError(
            f"doc_id={quoted(self.name)} maps document '{quoted(doc_id)}' to "
            f"{quoted(repr(mapped), 60)}; an id must be a nonempty text"
        )


def is_named_rule(text: str) -> bool:
    """Whether a text is a named rule or meant as one, such as ``before:`` without an argument."""
    return text.partition(":")[0] in {*_SPELLINGS, *_CUTS, ATTRIBUTE[:-1]}


def _function(rule: Rule) -> Callable[[str], str]:
    """Return the function of one rule.

    Raises:
        ConfigurationError: the rule is unknown, or lacks an argument that it needs.
    """
    if not isinstance(rule, str):
        if callable(rule):
            return rule
        raise _invalid(rule)
    if rule in _SPELLINGS:
        return _SPELLINGS[rule][0]
    name, _, argument = rule.partition(":")
    if name not in _CUTS or not argument:
        raise _invalid(rule)
    return lambda doc_id: _CUTS[name][0](doc_id, argument)


def _invalid(rule: object) -> ConfigurationError:
    """Return the error for something that is not a rule."""
    names = [*_SPELLINGS, *_CUTS]
    name = rule.partition(":")[0] if isinstance(rule, str) else names[0]
    hint = "" if name in names else suggestion(name, names)
    shown = [*_SPELLINGS, *(f"{name}:TEXT" for name in _CUTS)]
    return ConfigurationError(
        f"doc_id={quoted(rule, 60)} is invalid{hint}; give a function from an id to an id, or one "
        f'of {", ".join(shown)}; or a list of them, such as ["lower", "strip"]. For a golden set '
        f"with documents=, {ATTRIBUTE}COLUMN is one too; to the run, give doc_id=golden.doc_id"
    )


def differences(rules: Sequence[str]) -> str:
    """Return in words the difference between ids that rules of `joining_rule` remove."""
    cuts = (rule.partition(":") for rule in rules)
    return " and ".join(
        f"{_CUTS[name][1]} '{quoted(argument)}'" if argument else _SPELLINGS[name][1]
        for name, _, argument in cuts
    )


def joining_rule(samples: Sequence[IdSample]) -> tuple[tuple[str, ...], int]:
    """Return the one or two rules by which judged and ranked documents match, as few as possible.

    Args:
        samples: the judged and the ranked documents of queries where the two never match.

    Returns:
        The named rules that make documents match in the most queries, and in how many; empty if no
        rule does.
    """
    best, most = tuple[str, ...](), 0
    cuts = _cuts(samples)
    for size in (1, 2):
        for rules in itertools.combinations([*_SPELLINGS, *cuts], size):
            count = sum(
                not _mapped(judged, rules).isdisjoint(_mapped(ranked, rules))
                for judged, ranked in samples
            )
            if count > most:
                best, most = rules, count
        if 2 * most >= len(samples):
            break  # two rules would hardly do better
    return best, most


def _cuts(samples: Sequence[IdSample]) -> Sequence[str]:
    """Return the cuts that most often turn an id of one side into an id of the other.

    In fewer than a fifth of the queries this may be chance, as it is among numbers.
    """
    found = Counter[str]()
    for judged, ranked in samples:
        sides = _mapped(judged, _SPELLINGS), _mapped(ranked, _SPELLINGS)
        for ids, others in (sides, sides[::-1]):
            cuts = ((each, cut) for each in sorted(ids)[:_CUT_IDS] for cut in _cuts_of(each))
            found.update({cut: 1 for each, cut in cuts if _function(cut)(each) in others})
    often = [cut for cut, count in found.most_common(_TRIED_CUTS) if 5 * count >= len(samples)]
    return sorted(often, key=lambda cut: not cut.startswith("remove"))


def _cuts_of(doc_id: str) -> Iterator[str]:
    """Yield the cuts that an id suggests; a part with digits is the number of a chunk."""
    for border in _BORDER.finditer(doc_id):
        head, mark, tail = doc_id[: border.end()], border[0], doc_id[border.start() :]
        cuts = (f"remove_prefix:{head}", f"remove_suffix:{tail}", f"after:{mark}", f"before:{mark}")
        yield from (cut for cut in cuts if not re.search(r"^\w+:$|\d", cut))


def _mapped(doc_ids: Collection[str], rules: Iterable[str]) -> set[str]:
    """Return the ids mapped by rules; none if one would be empty, which is an error."""
    mapped = set(doc_ids)
    for rule in rules:
        mapped = set(map(_function(rule), mapped))
    return set() if "" in mapped else mapped
