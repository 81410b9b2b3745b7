"""The MCP servers of a conversation: made once there are any, and built."""
