"""Protocols: what the screen needs of a conversation, and what commands need of the screen."""
