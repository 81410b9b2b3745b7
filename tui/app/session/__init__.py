"""The conversation on the screen: making it, sending prompts, running them, replacing it."""
