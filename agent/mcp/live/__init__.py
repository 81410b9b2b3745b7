"""The servers of a running conversation: consent, offered tools, notes to the model."""
