"""Sessions on disk: append-only transcripts that survive a crash, and what is rebuilt from them.

Next: `agent.session.transcript` (the file), `agent.session.resume` (the conversation again).
"""
