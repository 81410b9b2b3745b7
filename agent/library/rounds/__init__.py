"""What the turns of a run do: calls of models and tools, guardrails, handoffs, ends."""
