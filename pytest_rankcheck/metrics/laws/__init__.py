"""The laws of metrics and of similarities, each with its definition, and the check of them."""
