"""Which rules are about a call."""
