"""Evaluation: a run measured on a golden set, and the comparison of two measurements."""
