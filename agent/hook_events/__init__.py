"""Moments of a conversation fired as hook events."""
