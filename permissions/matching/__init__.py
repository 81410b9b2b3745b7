"""Finds the rules that match a call."""
