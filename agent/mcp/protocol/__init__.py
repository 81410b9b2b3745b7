"""Everything that imports the MCP SDK; loaded in a thread when the first server connects."""
