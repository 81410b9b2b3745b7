"""Headless runs: text and JSON output, the control protocol, and tools for other programs."""
