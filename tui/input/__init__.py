"""Terminal input: priorities, capture and bubble dispatch, key names and the action registry.

Read `dispatch` first (the router), then `routed` (how the router meets Textual).
"""
