"""Renders Markdown as rows, also during streaming."""
