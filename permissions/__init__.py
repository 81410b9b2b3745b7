"""Permissions: which tool call may run, decided with a trace of reasons.

Start with `permissions.evaluate.cascade` (the pure decision), then `permissions.gate` (the entry
point, which resolves remaining asks).
"""
