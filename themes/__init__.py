"""Themes: colors by meaning, one TOML file each, read by the screen alone."""
