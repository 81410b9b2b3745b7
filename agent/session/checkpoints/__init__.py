"""Files as they were before each change, and the way back to them."""
