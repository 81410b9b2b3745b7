"""Builds the agents of a session: their kinds, who starts them, and each one of them."""
