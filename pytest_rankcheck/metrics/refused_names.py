"""Names of other tools that have no equal here, or several, and what to write instead."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[_.]\d+(\.\d+)?$")
"""A cutoff, as trec_eval writes it."""

_INSTEAD_OF = {
    "coverage": (
        "CatalogCoverage is the share of the catalogue (rankcheck_documents) that is shown, and "
        "Distinct the share of all ranks with different documents"
    ),
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


def advice_on(name: str) -> str | None:
    """Return what to write instead of another tool's name, or None if the name is not known."""
    stem = _NUMBER.sub("", name.casefold())
    return _INSTEAD_OF.get(name.casefold()) or _INSTEAD_OF.get(stem)
