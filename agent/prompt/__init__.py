"""What the model receives: a system prompt built once, and notes at the end of the history.

Next: `agent.prompt.section_registry` (sections and zones), `agent.prompt.system` (the whole).
"""
