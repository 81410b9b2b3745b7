"""Hooks: programs, prompts and services of the user that hear of events and may veto."""
