"""Where the workers of a team run: in this process, in their own process, or in a pane."""
