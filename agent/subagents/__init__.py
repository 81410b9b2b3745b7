"""Sub-agents: their definitions, their runs, and the supervisor of a session."""
