"""What the terminal shows, cell by cell, and the cheapest bytes that change it.

Read `diff` and `encode` first (pure), then `presenter` (how they hang below Textual).
"""
