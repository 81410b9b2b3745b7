"""Text editing, independent of the screen: buffer, draft, vim mode."""
