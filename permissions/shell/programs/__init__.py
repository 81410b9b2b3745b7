"""What each known program reads, writes and runs."""
