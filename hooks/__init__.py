"""Hooks: programs, prompts and services of the person that hear of events and may veto."""
