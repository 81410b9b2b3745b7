"""A small HTTP server on loopback that serves the Messages API from a script.

Tests, benchmarks and the demo use it through the same client as a real endpoint. Read next:
`scenario` (what a script is), `server` (how it is served), `faults` (failures on demand).
"""
