"""Vim's keys for the prompt: motions and text objects are pure, `keys` holds the state.

Loaded only where the user asked for them. Next: `keys`, then `motions`.
"""
