"""Resolution: what a golden set can see of a metric."""
