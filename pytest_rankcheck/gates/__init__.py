"""Gates: the rules that decide, and their verdicts."""
