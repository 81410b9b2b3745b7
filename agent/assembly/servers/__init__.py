"""Builds the MCP servers of a conversation, once any are configured."""
