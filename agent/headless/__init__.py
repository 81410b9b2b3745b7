"""Runs without a screen: text, JSON, control protocol, library."""
