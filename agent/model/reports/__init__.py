"""Reads what other vendors' servers report about their models, each in its own format."""
