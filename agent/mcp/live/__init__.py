"""The servers of a running conversation: consent, their tools among ours, notes to the model."""
