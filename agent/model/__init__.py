"""Models: client protocol, the Messages API implementation, and a scripted server."""
