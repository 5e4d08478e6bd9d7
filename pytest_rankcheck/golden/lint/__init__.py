"""The linter: rules that find golden-set data which would mislead a gate."""
