"""What the user marks in the transcript: its extent, its text, and the pointer that marks it."""
