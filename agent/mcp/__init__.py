"""Servers of the Model Context Protocol: connections, and their tools as tools of ours.

Next: `agent.mcp.mcp_servers` (the front door), `agent.mcp.server_owner` (one server's life).
"""
