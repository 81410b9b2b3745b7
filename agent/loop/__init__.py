"""The agent loop for one prompt: model requests and tool calls until the end of the turn."""
