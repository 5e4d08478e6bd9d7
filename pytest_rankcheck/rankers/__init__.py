"""Rankers: the run, its file formats, calling a ranker."""
