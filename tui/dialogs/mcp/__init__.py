"""Questions about MCP servers, and those that servers ask."""
