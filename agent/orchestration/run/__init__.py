"""One run of a workflow: its agents, limits and end."""
