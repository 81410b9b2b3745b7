"""Records for git: what it reads and changes, what it runs, and what a wildcard covers."""
