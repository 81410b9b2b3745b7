"""Where each command of a script runs."""
