"""A run's environment: its context for the caller's functions, and its recorded steps."""
