"""Three independent views of a run, free of content unless asked for it.

`events` says what happened, `cost` what it cost, `spans` how long it took and where.
"""
