"""Keeping a conversation inside the model's window, cheapest means first.

Next: `agent.memory.keeper` (when and what), `agent.memory.stages` (how, as pure functions).
"""
