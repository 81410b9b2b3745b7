"""One run of a workflow: its agents, its limits, its end."""
