"""Servers of the Model Context Protocol: which there are, the connections, what they offer."""
