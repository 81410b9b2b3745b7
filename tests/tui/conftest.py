"""Screens are driven without a look at the clock, and share their stylesheets."""

from __future__ import annotations

from tests.loop_idle import screens_wait_for_the_loop
from tests.shared_styles import styles_are_parsed_once

__all__ = ["screens_wait_for_the_loop", "styles_are_parsed_once"]
