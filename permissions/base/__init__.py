"""What every package is built on: no domain words, no imports from the packages above."""
