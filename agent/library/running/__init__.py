"""Running agents: `Runner`, and what begins a run."""
