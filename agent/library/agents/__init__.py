"""What an agent is: instructions, tools, handoffs, guardrails, hooks, output type."""
