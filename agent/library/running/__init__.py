"""Running agents: the loop, its results, and states that can be stored."""
