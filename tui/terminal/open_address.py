"""Opens web addresses in the user's browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Final

from permissions.base.network.web_address import web_host
from permissions.base.process.spawn import CannotStart, Launch, spawn

_SCREENS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


def open_address(url: str) -> bool:
    """Open a web address; False for any other address, or without a browser.

    The address is not passed through a shell, and the call does not wait for the browser.
    """
    opener = _opener()
    if opener is None:
        return False
    try:
        web_host(url)
        program = Launch((opener, url), dict(os.environ))
        spawn(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (CannotStart, ValueError):
        return False
    return True


def _opener() -> str | None:
    if sys.platform == "darwin":
        return shutil.which("open")
    if not any(os.environ.get(name) for name in _SCREENS):
        return None
    return shutil.which("xdg-open")
