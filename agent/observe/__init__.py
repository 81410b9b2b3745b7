"""Three independent views of a run, free of content unless asked for it.

`event_log` records what happened, `cost_tracker` what it cost, `spans` how long it took and where.
"""
