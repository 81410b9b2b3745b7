"""Orchestration: a mode in which the model plans fan-outs, and workflows whose results last."""
