"""Names of other tools that have no equal here, or several, and what to write instead."""

from __future__ import annotations

from pytest_rankcheck.errors import MetricError, quoted

__all__ = ["refusal_of"]

_NO_CATALOGUE = (
    "the coverage of a catalogue needs the catalogue, which a golden set does not list; Distinct "
    "is the number of distinct documents shown, as a share of all ranks"
)
_INSTEAD_OF = {
    "coverage": _NO_CATALOGUE,
    "catalogcoverage": _NO_CATALOGUE,
    "catalog_coverage": _NO_CATALOGUE,
    "hits": (
        "it is a count in ranx (here NumRelRet) and a share of queries in link prediction (here "
        "Success)"
    ),
    "11pt_avg": "take the mean of IPrec(needed=rounded)@0, ...@0.1, and so on to ...@1",
    "set_map": "for each query it is P times R, both without a cutoff",
    "set_f": (
        "a number after set_F is the square of beta; for set_F_0.25 write F(beta=0.5), for example"
    ),
    "relative_p": "use P, or AP(divide=min), which can reach 1 at any cutoff",
    "set_relative_p": "use P without a cutoff",
    "gm_bpref": "GMAP is the only geometric mean; Bpref has an arithmetic one",
    "rprec_mult": "Rprec is its value at 1.00",
    "num_q": "len(golden) is the number of queries",
    "num_nonrel_judged_ret": "NumRet, NumRelRet and Judged count what is retrieved",
    "utility": "use NumRelRet and NumRet",
    "ndcg_rel": "use nDCG",
    "rndcg": "use nDCG or Rprec",
    "bing": "use RBP or AP",
    "g": "use nDCG",
}
"""What to write instead of a name, by the name in lower case."""


def refusal_of(name: str, written: str | None = None) -> MetricError | None:
    """Return the error for another tool's name that we refuse; None for any other name.

    Args:
        name: the name, without parameters, cutoff and number.
        written: the whole name as written, for the message.
    """
    advice = _INSTEAD_OF.get(name.casefold())
    if advice is None:
        return None
    return MetricError(f"'{quoted(written or name)}' is not a metric here: {advice}")
