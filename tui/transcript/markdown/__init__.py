"""Markdown as rows, also while it streams."""
