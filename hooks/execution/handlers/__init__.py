"""The ways in which a handler runs, one module each; they know nothing of each other."""
