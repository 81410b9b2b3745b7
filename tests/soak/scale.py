"""How much of a matrix is run: a seeded sample with the tests, all of it with `make soak`."""

from __future__ import annotations

import os
from typing import Final

IS_SOAK: Final = bool(os.environ.get("AGENT_TUI_SOAK"))
FAULT_RUNS: Final = 1_000 if IS_SOAK else 24
KILLS: Final = 500 if IS_SOAK else 8
PARTS: Final = 20 if IS_SOAK else 3
"""Tests that share the fault runs, so that workers can divide them."""
KILL_PARTS: Final = 10 if IS_SOAK else 1
