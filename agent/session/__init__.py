"""Sessions on disk: append-only transcripts that survive a crash, and their reconstruction.

Next: `agent.session.transcript` (the file), `agent.session.resume` (restores the conversation).
"""
