"""Text before it is drawn: rows of styled runs, wrapping, syntax highlighting, file links.

Start with `styled_rows` (rows and inks); this package is independent of Textual and the agent.
"""
