"""The state of a run, its result, and how both are stored."""
