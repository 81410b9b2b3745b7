"""The engines of `agent-tui hooks`."""
