"""The user's status line command."""
