"""Opens web addresses in the user's browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from permissions.base.network.web_address import web_host
from permissions.base.process.child_environment import child_environment
from permissions.base.process.program_path import path_outside
from permissions.base.process.spawn import CannotStart, Launch, spawn

_SCREENS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


def open_address(url: str) -> bool:
    """Open a web address; False for any other address, or without a browser.

    The address is not passed through a shell, and the call does not wait for the browser.
    """
    # The browser lives long, and other programs can read the environment it was started with.
    env = child_environment(os.environ, {})
    env["PATH"] = path_outside(env.get("PATH"), Path.cwd())
    opener = _opener(env)
    if opener is None:
        return False
    try:
        web_host(url)
        program = Launch((opener, url), env)
        spawn(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (CannotStart, ValueError):
        return False
    return True


def _opener(env: Mapping[str, str]) -> str | None:
    if sys.platform == "darwin":
        return shutil.which("open", path=env["PATH"])
    if not any(env.get(name) for name in _SCREENS):
        return None
    return shutil.which("xdg-open", path=env["PATH"])
