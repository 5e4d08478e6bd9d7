"""Works of ours that have no peer: loading a large golden set, and many metrics after the join."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from speed.inputs import Inputs

Work = Callable[[], Mapping[str, float]]

CUTOFFS = range(1, 21)
HUNDRED = [f"{name}@{k}" for name in ("nDCG", "RR", "AP", "P", "R") for k in CUTOFFS]


def golden_set(form: str, inputs: Inputs) -> Work:
    """Prepare loading a golden set from Parquet."""
    from pytest_rankcheck import GoldenSet

    kept = []

    def load() -> Mapping[str, float]:
        golden = GoldenSet.load(inputs.qrels_parquet)
        kept.append(golden)  # held until the memory is read
        return {"queries": float(len(golden))}

    return load


def hundred_metrics(form: str, inputs: Inputs) -> Work:
    """Prepare a hundred metrics of an evaluation whose hits are found."""
    from pytest_rankcheck import GoldenSet, Run, evaluate

    evaluation = evaluate(Run.load(inputs.run_parquet), GoldenSet.load(inputs.qrels_parquet))
    evaluation.mean("NumRet")
    return lambda: {name: evaluation.mean(name) for name in HUNDRED}


SINGLE = {"golden set": golden_set, "hundred metrics": hundred_metrics}
