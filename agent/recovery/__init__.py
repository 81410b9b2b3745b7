"""What to do when a model request fails: retry, fall back, degrade or fail. Pure code.

Read next: `classify` (what went wrong), `escalation` (what to do about it), `retry` (when).
"""
