"""The terminal program: command line, screen, input and dialogs around the agent."""
