"""Checks of what a ranker does, beside how good it is on average."""
