"""Which servers are configured, which of them may start, and what the user has accepted of them."""
