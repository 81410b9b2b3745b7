"""The system prompt, built once per conversation, and the notes at the end of the history.

Next: `agent.prompt.section_registry` (sections and zones), `agent.prompt.system` (the prompt).
"""
