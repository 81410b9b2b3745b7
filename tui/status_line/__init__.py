"""The lines below the prompt."""
