"""Hooks: programs, prompts and services of the user that receive events and may veto."""
