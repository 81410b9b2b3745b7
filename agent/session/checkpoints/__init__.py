"""Stores files before each change, and restores them."""
