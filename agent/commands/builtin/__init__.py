"""The built-in commands, one module each; loaded when they are run, never before."""
