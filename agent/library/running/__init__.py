"""Running agents: how a run begins and ends, its results, and states that can be stored."""
