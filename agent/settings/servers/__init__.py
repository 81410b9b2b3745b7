"""Entries of MCP servers in files: read, checked, each with its line."""
