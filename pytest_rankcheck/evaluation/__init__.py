"""Evaluation: a run measured on a golden set, metric by metric."""
