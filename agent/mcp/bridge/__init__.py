"""Converts servers' tools to our tools: schemas, results, limits."""
