"""Palette, choice and files of themes."""
