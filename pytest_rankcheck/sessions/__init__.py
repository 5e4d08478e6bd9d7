"""Session logs: reading them, the outcomes of sessions, and replaying them against a ranker."""
