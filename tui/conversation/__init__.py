"""Makes the conversation of a front end."""
