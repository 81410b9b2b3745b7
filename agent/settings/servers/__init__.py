"""Reads and checks entries of MCP servers in files, each with its line."""
