"""Forwards a worker's permission requests to its leader, and the answers back.

Implements `permissions.resolve.mailbox`. The other end: `agent.teams.permission_desk`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from agent.teams.lease import holder
from agent.teams.post import POLL_S, Post
from agent.teams.team_message import TeamError, TeamMessage
from permissions.base.process.background_tasks import BackgroundTasks
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.request import PermissionRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from permissions.resolve.mailbox import Mailbox

GRACE_S: Final = 300.0
"""How long, in seconds, a worker waits for a leader that is gone."""


class ForwardedRequest(Struct, frozen=True, kw_only=True):
    """A request in the form sent to the leader."""

    request_id: str
    tool: str
    tool_input: dict[str, object]
    tool_use_id: str
    cwd: str
    reasons: tuple[str, ...]
    """Why the worker's rules ask."""

    def to_request(self, agent_id: str) -> PermissionRequest:
        """Return the permission request for the leader to decide."""
        return PermissionRequest(
            tool=self.tool,
            tool_input=self.tool_input,
            request_id=self.request_id,
            tool_use_id=self.tool_use_id,
            agent_id=agent_id,
            agent_type=agent_id,
        )


def read_request(data: Mapping[str, object]) -> ForwardedRequest:
    """Parse a request. Raises msgspec.ValidationError."""
    return msgspec.convert(data, ForwardedRequest)


def decision_json(decision: Decision) -> dict[str, object]:
    """Return the JSON form of a decision for a worker."""
    return {
        "behavior": str(decision.behavior),
        "source": str(decision.source),
        "reason_type": str(decision.reason_type),
        "reason": str(decision.reason),
        "message": decision.message,
        "feedback": decision.feedback,
        "interrupt": decision.interrupt,
        "updated_input": decision.updated_input,
    }


def read_decision(data: Mapping[str, object]) -> Decision:
    """Parse a decision. Raises ValueError if it is invalid, so that it allows nothing."""
    new_input, feedback = data.get("updated_input"), data.get("feedback")
    return Decision(
        behavior=Behavior(str(data.get("behavior"))),
        source=DecisionSource(str(data.get("source"))),
        reason_type=ReasonType(str(data.get("reason_type"))),
        reason=Reason(str(data.get("reason"))),
        message=str(data.get("message") or ""),
        feedback=feedback if isinstance(feedback, str) else None,
        interrupt=data.get("interrupt") is True,
        updated_input=new_input if isinstance(new_input, dict) else None,
    )


class LeaderLine:
    """A worker's channel for permission requests to its leader."""

    def __init__(
        self, post: Post, leader_id: str, cwd: Callable[[], Path], *, grace_s: float = GRACE_S
    ) -> None:
        """`grace_s` is how long, in seconds, a worker waits for a leader that is gone."""
        self._post = post
        self._leader_id = leader_id
        self._cwd = cwd
        self._grace_s = grace_s
        self._open: dict[str, asyncio.Future[Decision]] = {}
        self._requests: dict[str, tuple[str, ForwardedRequest]] = {}
        """By request id: the text of the ask, and the request as sent."""
        self._background = BackgroundTasks()

    def register(self, request_id: str) -> None:
        """Accept the answer to a request from now on. Raises ValueError for an id in use."""
        if request_id in self._open:
            raise ValueError(f"request {request_id} is open already")
        self._open[request_id] = asyncio.get_running_loop().create_future()

    async def send(self, request: PermissionRequest, pending: Decision) -> None:
        """Send the request to the leader. Raises OSError and TeamError."""
        forwarded_request = ForwardedRequest(
            request_id=request.request_id,
            tool=request.tool,
            tool_input=dict(request.tool_input),
            tool_use_id=request.tool_use_id,
            cwd=str(self._cwd()),
            reasons=tuple(sorted(str(reason) for reason in pending.ask_reasons)),
        )
        self._requests[request.request_id] = pending.message, forwarded_request
        await self._send_request(request.request_id)

    async def _send_request(self, request_id: str) -> None:
        text, forwarded_request = self._requests[request_id]
        await self._post.send(
            self._leader_id,
            "permission_request",
            text=text,
            data=msgspec.to_builtins(forwarded_request),
            message_id=request_id,
        )

    async def answer(self, request_id: str) -> Decision | None:
        """Wait for the leader's answer; None if the leader has been gone for `grace_s`."""
        future, gone_s, step_s = self._open[request_id], 0.0, min(POLL_S, self._grace_s or POLL_S)
        leader = holder(self._post.place.leader_lease)
        while True:
            finished_futures, _ = await asyncio.wait({future}, timeout=step_s)
            if finished_futures:
                return future.result()
            current_leader = holder(self._post.place.leader_lease)
            if current_leader is None:
                gone_s += step_s
                if gone_s >= self._grace_s:
                    return None
            elif current_leader != leader:
                # Another process leads now; it drops this copy if it has the question already.
                leader, gone_s = current_leader, 0.0
                await self._send_request(request_id)

    def unregister(self, request_id: str) -> None:
        """Forget the request; if it is unanswered, withdraw it from the leader."""
        self._requests.pop(request_id, None)
        if not self._open.pop(request_id).done():
            self._background.start(self._withdraw(request_id))

    def take_answer(self, message: TeamMessage) -> None:
        """Handle an answer; only the leader's first one is used."""
        future = self._open.get(str(message.data.get("request_id")))
        if message.sender != self._leader_id or future is None or future.done():
            return
        decision = message.data.get("decision")
        try:
            future.set_result(read_decision(decision if isinstance(decision, dict) else {}))
        except ValueError as error:
            future.set_exception(error)

    async def aclose(self) -> None:
        """Wait for pending withdrawals."""
        await self._background.aclose()

    async def _withdraw(self, request_id: str) -> None:
        with contextlib.suppress(OSError, TeamError):  # if it fails, the leader's answer is ignored
            await self._post.send(
                self._leader_id, "permission_withdrawn", data={"request_id": request_id}
            )


if TYPE_CHECKING:

    def _check_protocol(line: LeaderLine) -> Mailbox:
        return line
