"""Permissions: which tool call may run, decided with a trace that says why."""
