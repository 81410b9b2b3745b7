"""Permission context and contenders from settings."""
