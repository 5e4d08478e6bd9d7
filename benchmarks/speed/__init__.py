"""The benchmark of speed: what is measured, how, against whom, and the tables of the manual."""
