"""What functions of the caller get to see of a run."""
