"""The effect of keys on the main screen."""
