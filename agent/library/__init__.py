"""The library: agents of your own, run with the names and semantics of the Agents SDK.

Start at `agent.library.api` (every public name) and `agent.library.running.runner`.
"""
