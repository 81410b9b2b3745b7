"""The agent: loop, model, tools, sessions and settings, usable without a screen.

`from agent import Agent, Runner, …` imports the names of the library (`agent.library.api`), which
is loaded when the first of them is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.library.api import *  # noqa: F403 - all that it lists, and nothing else
else:

    def __getattr__(name: str) -> object:
        """Return a public name of the library.

        Raises:
            AttributeError: the library has no such name.
            ImportError: the Agents SDK has the name, this library has not.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        from agent.library import api

        if name not in api.__all__:
            from agent.library.absent_names import absent

            error = absent(name)
            if error is not None:
                raise error
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(api, name)
