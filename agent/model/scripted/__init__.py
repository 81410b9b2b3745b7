"""A small HTTP server on loopback that speaks the Messages API from a script.

Tests, benchmarks and the demo run on it through the same client as a real endpoint. Read next:
`scenario` (what a script is), `server` (how it is served), `faults` (bad days on demand).
"""
