"""Screens are driven without a look at the clock."""

from __future__ import annotations

from tests.loop_idle import screens_wait_for_the_loop

__all__ = ["screens_wait_for_the_loop"]
