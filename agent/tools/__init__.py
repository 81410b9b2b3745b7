"""Tools: what they are (`base`), which there are (`registry`), how a call runs (`lifecycle`)."""
