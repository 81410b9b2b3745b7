"""The conversation on the screen: made, run, sent to, replaced."""
