"""Delivers reports of background agents exactly once, even after the program was killed."""
