"""Names inside writable directories that no confined program may change or make."""
