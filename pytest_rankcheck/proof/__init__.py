"""Proof that gates notice: harms applied to kept rankings, and the verdicts of the gates."""
