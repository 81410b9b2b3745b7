"""`agent-tui workflow`: runs of workflows from the command line."""
