"""A conversation: takes prompts and yields events."""
