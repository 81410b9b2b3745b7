"""Where the workers of a team run: in this process, in one of their own, in a pane."""
