"""File changes as rows."""
