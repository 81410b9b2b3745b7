"""The ways to a server that are ours: a program's standard streams, a web socket, the caller."""
