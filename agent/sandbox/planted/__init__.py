"""What a run left that must not be there: moved away, and reported as refused."""
