"""``python -m pytest_rankcheck metrics``: the catalogue of metrics, or one of them."""

from __future__ import annotations

import argparse

from pytest_rankcheck.command_line.shared_inputs import PASSED, Commands
from pytest_rankcheck.metrics.metric_card import card_of
from pytest_rankcheck.metrics.metric_definition import Definition
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.metric_registry import definitions, registered


def add_metrics_command(commands: Commands) -> None:
    """Add the command ``metrics`` to the parser."""
    metrics = commands.add_parser("metrics", help="list the metrics, or describe one of them")
    metrics.add_argument(
        "name",
        nargs="?",
        help="a metric or an alias, such as nDCG or MRR, or nDCG(gain=exponential)@10",
    )
    metrics.set_defaults(run=_metrics)


def _metrics(chosen: argparse.Namespace) -> int:
    if chosen.name is None:
        for name, metric in definitions().items():
            aliases = f" ({', '.join(metric.aliases)})" if metric.aliases else ""
            print(f"{name}{aliases}\n    {metric.summary}")
        return PASSED
    print("\n".join(card_of(_described(chosen.name)).lines()))
    return PASSED


def _described(name: str) -> Definition | Metric:
    """Return the metric with a name; with the parameters that another tool's name stands for."""
    entry = registered(name)
    return entry if entry and not entry.as_spelled(name, {}) else Metric.parse(name)
