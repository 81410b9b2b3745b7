"""The question about a workflow before it starts."""
