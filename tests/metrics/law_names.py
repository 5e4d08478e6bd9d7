"""The metrics that the laws are tried on: all of the registry, and some with other parameters."""

from __future__ import annotations

from pytest_rankcheck.metrics.metric_registry import judged_definitions

VARIANTS = {
    "nDCG": [
        "(gain=exponential)@4",
        "(discount=linear)",
        "(discount=power(0.5))",
        "(discount=power(0))@3",
        "(discount=zipf(2,1))@4",
        "(gain={1:1,2:1,3:5})",
        "(gain={0:1,1:3,2:1,3:2})@2",
        "(judged_only=true)@3",
    ],
    "DCG": ["(gain=exponential,discount=linear)@4", "(discount=log(10))"],
    "AP": [
        "(divide=min)@3",
        "(rel=2)",
        "(rel=5)@4",
        "(rel=0)",
        "(divide=retrieved)",
        "(divide=retrieved)@4",
        "(divide=retrieved)@1",
    ],
    "RBP": ["(p=0.5,graded=true)", "(p=0.95)@4"],
    "ERR": ["(stop=sigmoid(1,1))@5", "(max_grade=8)"],
    "nERR": ["(stop=sigmoid(50,1))"],
    "IPrec": ["(rel=2)@0", "@1", "@0.8", "(needed=rounded)@0.5"],
    "KendallTau": ["(ties=a)", "(ties=c)@5"],
    "KendallDistance": ["(normalised=pairs)", "(normalised=graded)@3"],
    "TauAP": ["(ties=b)", "(ties=b)@6"],
    "FirstRank": ["(missing=omit)@4"],
    "MeanRank": ["(missing=omit)", "(missing=omit)@4", "(missing=omit)@1"],
    "GAP": ["(thresholds={1:0.2,2:0.3,3:0.5})", "(thresholds={1:0.5,2:0,3:0.5})"],
    "NumRet": ["(rel=2)@3"],
    "P": ["(rel=3)@2"],
    "F": ["(beta=2)@10"],
}


def plain_names() -> list[str]:
    """Return every metric of the registry with its default parameters, and at a cutoff of 3."""
    found = []
    for name, definition in judged_definitions().items():
        match definition.at:
            case "recall":
                found.append(f"{name}@0.5")
            case "cutoff":
                found += [name, f"{name}@3"]
            case _:
                found.append(name)
    return found


def names() -> list[str]:
    """Return every metric of the registry, with and without a cutoff, and with parameters."""
    variants = [f"{name}{variant}" for name, chosen in VARIANTS.items() for variant in chosen]
    return [*plain_names(), *variants]
