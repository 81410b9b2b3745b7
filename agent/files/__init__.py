"""The files of the project for users: finding them by name, attaching them to a prompt.

Next: `agent.files.index` (the list), `agent.files.mentions` (`@path` in a prompt).
"""
