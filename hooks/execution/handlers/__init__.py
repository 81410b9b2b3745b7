"""The ways in which a handler runs, one module each, independent of each other."""
