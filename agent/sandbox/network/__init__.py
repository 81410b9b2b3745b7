"""The only way from a confined program to a network: the session's namespace and the proxy."""
