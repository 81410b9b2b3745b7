"""What handlers answered, and the outcome of an event's answers."""
