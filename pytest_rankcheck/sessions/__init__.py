"""Session logs: reading them, what their sessions came to, and replaying them against a ranker."""
