"""Selecting text in the transcript: the range, its text, and mouse handling."""
