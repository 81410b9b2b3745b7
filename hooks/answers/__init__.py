"""What handlers answered, and what an event's answers come to."""
