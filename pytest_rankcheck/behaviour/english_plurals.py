"""The plural of an English noun, and the singular of a plural.

Rules for regular nouns, and lists of frequent irregular ones. Libraries for this expect the caller
to know whether a word is a singular or a plural. When inflect 7.6 has to guess, it takes *bus*,
*lens*, *gas* and *virus* for the plurals of *bu*, *len*, *ga* and *viru*.
"""

from __future__ import annotations

from itertools import takewhile

_NO_OTHER = """
news series species means headquarters crossroads sheep fish salmon deer aircraft spacecraft
offspring data metadata information software hardware firmware malware furniture equipment
luggage baggage clothing jewelry jewellery money cash music research advice traffic weather
homework knowledge evidence progress health wealth rice chess fitness wellness
physics mathematics maths politics economics electronics ethics genetics logistics linguistics
acoustics athletics gymnastics chaos cosmos diabetes rabies measles herpes
scissors trousers pants jeans shorts leggings tights pyjamas pajamas glasses sunglasses goggles
binoculars pliers tweezers clothes goods thanks contents savings earnings
always yes was has does this his its hers ours yours theirs less plus versus sans across
kubernetes postgres pandas keras https dns aws ios css js sas saas texas christmas paris
"""
"""Uncountable nouns, plurals without a singular, and frequent words that only look plural."""

_PAIRS = """
man/men woman/women child/children person/people foot/feet tooth/teeth mouse/mice goose/geese
ox/oxen knife/knives wife/wives life/lives leaf/leaves shelf/shelves wolf/wolves half/halves
loaf/loaves thief/thieves scarf/scarves calf/calves self/selves potato/potatoes tomato/tomatoes
hero/heroes echo/echoes bus/buses gas/gases lens/lenses bias/biases canvas/canvases
atlas/atlases alias/aliases virus/viruses bonus/bonuses campus/campuses status/statuses
census/censuses focus/focuses circus/circuses cactus/cacti radius/radii quiz/quizzes
axis/axes analysis/analyses crisis/crises thesis/theses hypothesis/hypotheses
diagnosis/diagnoses synthesis/syntheses criterion/criteria phenomenon/phenomena
matrix/matrices vertex/vertices movie/movies cookie/cookies selfie/selfies zombie/zombies
brownie/brownies hoodie/hoodies calorie/calories smoothie/smoothies rookie/rookies
cache/caches headache/headaches niche/niches moustache/moustaches mustache/mustaches
"""
"""Irregular singulars and plurals, which the rules cannot derive from each other."""

_ENDINGS = ("dynamics", "mechanics", "nomics", "ous", "less")
"""The endings of other uncountable nouns, and of adjectives such as *viscous* and *wireless*."""

_UNCHANGED = frozenset(_NO_OTHER.split())
_IRREGULAR = dict(pair.split("/") for pair in _PAIRS.split())
_SINGULARS = {many: one for one, many in _IRREGULAR.items()} | {"indices": "index"}


def other_number(word: str) -> str:
    """Return the plural of a singular, or the singular of a plural; other words stay the same.

    Args:
        word: letters without accents, in lower case, capitalised or in capitals.
    """
    small = word.lower()
    if small in _UNCHANGED or small.endswith(_ENDINGS):
        return word
    if small in _SINGULARS or small in _IRREGULAR:
        return _like(word, {**_IRREGULAR, **_SINGULARS}[small])
    if not small.endswith("s") or small.endswith(("ss", "us", "is")):
        return _like(word, _plural_of(small))
    if small.endswith("ies") and len(small) > 4:
        return _like(word, f"{small[:-3]}y")
    if small.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return _like(word, small[:-2])
    return _like(word, small[:-1])


def _plural_of(word: str) -> str:
    """Return the plural of a word outside the lists; words in *-is* change only if regular."""
    if word.endswith("is"):
        return f"{word[:-2]}es" if word.endswith("sis") else word
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _like(word: str, other: str) -> str:
    """Return another word in the same case as a word; their common beginning is kept."""
    if word.isupper():
        return other.upper()
    pairs = zip(word.lower(), other, strict=False)
    kept = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    if not kept:
        return other.capitalize() if word[0].isupper() else other
    return word[:kept] + other[kept:]
