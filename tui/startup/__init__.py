"""From the command line to a running front end."""
