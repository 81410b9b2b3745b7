"""Sections of a settings file that are large enough for a module of their own."""
