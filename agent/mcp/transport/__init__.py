"""Our own transports: a program's standard streams and web sockets."""
