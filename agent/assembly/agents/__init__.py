"""Builds the agents of a session: the catalog, the supervisor, and each sub-agent."""
