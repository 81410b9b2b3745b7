"""What settings and rules say about the sandbox, joined into values that policy and proxy read."""
