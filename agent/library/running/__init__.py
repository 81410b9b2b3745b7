"""Runs agents: `Runner`, and the setup of a run."""
