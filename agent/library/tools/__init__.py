"""Function tools: schema, call, output, guardrails."""
