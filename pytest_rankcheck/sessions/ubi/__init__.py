"""User Behavior Insights: the queries and the events of a log become rows of one table."""
