"""Command text to syntax: the tree, a second lexer, and their comparison."""
