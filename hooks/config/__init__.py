"""Configured handlers: read, merged, matched, linted."""
