"""Measurements of the installed program from outside: a pseudo-terminal and a scripted model.

Read next: `figures` (what is measured), `program` (how it is driven). Nothing here passes or fails.
"""
