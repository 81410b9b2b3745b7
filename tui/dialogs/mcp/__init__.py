"""Questions about MCP servers, and questions from servers."""
