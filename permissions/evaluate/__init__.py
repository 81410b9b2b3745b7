"""Steps 1 to 3 of a decision: scope, rules, mode. Pure."""
