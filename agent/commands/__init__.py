"""Commands that the user types: `/name` at the start of a prompt.

Next: `agent.commands.spec` (what a command is), `agent.commands.command_registry` (where they come
from).
"""
