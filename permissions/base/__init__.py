"""What every package stands on: no domain words, no imports from the packages above."""
