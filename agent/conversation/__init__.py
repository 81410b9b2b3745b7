"""One conversation: prompts in, events out."""
