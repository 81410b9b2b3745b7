"""What a search cannot see because the sandbox hides credentials from it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from agent.tools.files.paths import display_path
from agent.tools.search.hidden_text import HIDDEN
from agent.tools.services import ToolServices
from permissions.base.process.spawn import CannotConfine

_NAMED: Final = 5


async def hidden_note(directory: Path, services: ToolServices) -> str:
    """Return a note for the result; empty if everything was searched."""
    sandbox = services.sandbox
    if sandbox is None:
        return ""
    try:
        hidden = await asyncio.to_thread(sandbox.hidden_from_search, directory)
    except CannotConfine:
        return ""
    if not hidden:
        return ""
    names = ", ".join(display_path(Path(path), services.launch_dir) for path in hidden[:_NAMED])
    more = f" and {len(hidden) - _NAMED} more" if len(hidden) > _NAMED else ""
    return f"{HIDDEN}: {names}{more}"
