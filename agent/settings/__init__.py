"""Settings of the six sources: read, judged by trust, merged, watched.

Next: `agent.settings.load` (the front door), `agent.settings.trust`.
"""
