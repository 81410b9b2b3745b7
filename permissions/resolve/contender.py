"""The one protocol that hooks, classifier, bridge, channel and dialog implement."""

from __future__ import annotations

from typing import Protocol

from permissions.decision import Decision
from permissions.request import PermissionRequest


class Contender(Protocol):
    """A source of answers that may resolve an ask.

    An implementer must not have side effects before it knows that it won (a rule is stored by
    the winner alone), must not swallow cancellation, and returns None for "no opinion" rather
    than an ask.
    """

    @property
    def name(self) -> str:
        """A short name for the trace, e.g. `classifier`."""
        ...

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Return a decisive answer, or None for no opinion."""
        ...
