"""The screen as cells, and the escape codes that update it with the fewest bytes.

Read `cell_diff` and `encode` first (pure), then `presenter` (how they replace Textual's output).
"""
