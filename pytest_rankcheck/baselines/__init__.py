"""Baselines: the approved record of an evaluation, its file, and when it may change."""
