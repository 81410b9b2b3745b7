"""Paths and path patterns as permission rules see them."""
