"""The files of the project for users: finding them by name, attaching them to a prompt.

Next: `agent.files.file_index` (the list), `agent.files.mentions` (`@path` in a prompt).
"""
