"""Proof that gates notice: harms put into kept rankings, and what the gates say of them."""
