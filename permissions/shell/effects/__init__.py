"""What a known program does with its arguments: each question is a function over its record."""
