"""Why an assertion failed, as a value: what fell, where, in which queries, and what moved there."""
