"""Terminal input: priorities, capture and bubble dispatch, key names and the action registry.

Read `dispatch` first (the router), then `routed_app` (how Textual's events reach the router).
"""
