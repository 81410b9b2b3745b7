"""Run a scenario when its turn comes: the suite starts all of them at once, which no machine likes.

`turn.py LOCK URL` becomes `python -m agent.mcp.conformance URL`; two run at the same time.
"""

import fcntl
import os
import sys

SLOTS = 2

lock = os.open(f"{sys.argv[1]}.{os.getpid() % SLOTS}", os.O_CREAT | os.O_RDWR, 0o600)
fcntl.flock(lock, fcntl.LOCK_EX)
# The lock ends with the program that this one becomes.
os.set_inheritable(lock, True)
os.execv(sys.executable, [sys.executable, "-m", "agent.mcp.conformance", *sys.argv[2:]])
