"""Asks the local classifier before all others: harmless calls need no permission.

`PermissionRequest` hooks run where a user would be asked; a hook that notifies the user would
otherwise do so for calls that run unasked.
"""

from __future__ import annotations

from msgspec.structs import replace

from permissions.decision import Decision
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from permissions.resolve.contender_authority import (
    eligible_contenders,
    undecided_entries,
    with_trace,
)
from permissions.resolve.denial_limits import DenialState
from permissions.resolve.handlers import Handler
from permissions.resolve.race import Abort, race


class LocalFirst:
    """Resolves an ask by the local classifier, or else by another handler."""

    def __init__(self, classifier: Contender, rest: Handler) -> None:
        """`classifier` is asked first; `rest` resolves what it leaves open."""
        self._classifier = classifier
        self._rest = rest

    @property
    def asks_users(self) -> bool:
        """Whether a user may see an ask."""
        return self._rest.asks_users

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the classifier's answer, or that of the other handler.

        Raises:
            RaceAborted: the agent was interrupted.
        """
        contenders = eligible_contenders([self._classifier], pending, denials)
        result = await race(contenders, request, pending, abort)
        if result.decision is not None and result.winner is not None:
            return with_trace(pending, result.decision, result.winner, ())
        entries = undecided_entries(result.undecided_contenders)
        pending = replace(pending, trace=(*pending.trace, *entries))
        return await self._rest.resolve(request, pending, abort, denials)
