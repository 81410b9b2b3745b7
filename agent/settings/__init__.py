"""Settings of the six sources: read, filtered by trust, merged, watched.

Next: `agent.settings.load` (the entry point), `agent.settings.trust`.
"""
