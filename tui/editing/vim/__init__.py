"""Vim's keys for the prompt: motions and text objects are pure, `keys` holds the state.

Imported only if the user has enabled them. Next: `keys`, then `motions`.
"""
