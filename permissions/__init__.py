"""Permissions: which tool call may run, decided with a trace of reasons.

Start with `permissions.evaluate.cascade` (the pure decision), then `permissions.gate` (the front
door that resolves what is left to ask).
"""
