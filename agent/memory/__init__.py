"""Keeps a conversation inside the model's window, with the cheapest means first.

Next: `agent.memory.context_manager` (when and what), `agent.memory.stages` (how, as pure
functions).
"""
