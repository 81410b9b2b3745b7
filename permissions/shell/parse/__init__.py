"""Parses command text into syntax: the tree, a second lexer, and their comparison."""
