"""A ranking of hotels, learnt with LightGBM."""
