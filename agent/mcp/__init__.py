"""Servers of the Model Context Protocol: connections, and their tools as our tools.

Next: `agent.mcp.mcp_servers` (the entry point), `agent.mcp.server_owner` (one server's life cycle).
"""
