"""The prompt: editing, completion, history."""
