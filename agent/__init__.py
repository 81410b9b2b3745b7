"""The agent: loop, model, tools, sessions and settings, usable without a screen."""
