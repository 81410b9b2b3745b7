"""The turns of a run: calls of models and tools, guardrails, handoffs, endings."""
