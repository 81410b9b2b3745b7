"""Three independent records of a run, without content unless the user wants it.

`event_log` records what happened, `cost_tracker` what it cost, `spans` how long it took and where.
"""
