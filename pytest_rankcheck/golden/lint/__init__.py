"""The linter: rules that find data in golden sets that would mislead a gate."""
