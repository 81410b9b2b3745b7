"""What surrounds a run: its context for functions of the caller, and its recorded steps."""
