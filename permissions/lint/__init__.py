"""Rules that do not do what they look like."""
