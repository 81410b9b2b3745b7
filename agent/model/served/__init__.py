"""Tools that run at the endpoint, and code at the endpoint that calls our tools."""
