"""One record for each known program: what it reads, writes and runs."""
