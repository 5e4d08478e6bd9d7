"""The profile of a log, and the rules that lint it."""
