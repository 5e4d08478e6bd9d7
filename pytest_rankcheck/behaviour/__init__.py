"""Checks of how a ranker behaves, apart from its average quality."""
