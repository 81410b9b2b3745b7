"""Measure the installed program from outside, with a pseudo-terminal and a scripted model.

Read next: `figures` (what is measured), `program` (how it is driven).
"""
