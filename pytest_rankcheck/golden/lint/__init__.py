"""The linter: what in a golden set would mislead a gate. A module with rules is registered."""
