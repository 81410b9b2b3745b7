"""Text before it is drawn: rows of inked runs, wrapping, syntax colors, the editing buffer.

Start with `ink` (what a row is); nothing here knows a toolkit or the agent.
"""
