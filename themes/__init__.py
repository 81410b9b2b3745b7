"""Themes: colors by meaning, one TOML file each, used only by the screen."""
