"""Decides workers' permission requests in the leader, by its rules, hooks, classifier and user: one
request at a time for each worker, each answered once.

An answer is recorded in the leader's transcript before it is sent; requests that a killed leader
did not answer are asked again with the same id. The other end: `agent.teams.forwarding`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from agent.abort import AbortController
from agent.session.session_recorder import SessionRecorder
from agent.session.team_records import MailAnswerRecord
from agent.teams.forwarding import ForwardedRequest, decision_json, read_request
from agent.teams.post import Post
from agent.teams.team_message import TeamError, TeamMessage, derived_id
from permissions.base.text.failure_text import error_reason
from permissions.decision import Behavior, Decision
from permissions.gate import PermissionGate
from permissions.resolve.race import RaceAborted

MAX_REPEATED: Final = 20
"""Answers that are sent to a worker again; it has fewer calls in progress."""


class PermissionDesk:
    """Answers the requests of one team's workers."""

    def __init__(
        self,
        post: Post,
        gate: Callable[[str], PermissionGate],
        recorder: SessionRecorder,
        notify: Callable[[str, str], None],
        answers: Mapping[str, MailAnswerRecord],
    ) -> None:
        """`gate` takes a worker's id and returns the leader's gate with that worker's limits;
        `answers` were recorded by earlier processes of this session."""
        self._post = post
        self._gate = gate
        self._recorder = recorder
        self._notify = notify
        self._answers = dict(answers)
        self._open: dict[str, tuple[str, AbortController, asyncio.Task[None]]] = {}
        """By request id: the sender, the abort controller, and the task that decides."""
        self._one_by_one = asyncio.Lock()

    @property
    def waiting(self) -> tuple[str, ...]:
        """The ids of workers that wait for an answer."""
        return tuple(sender for sender, _, _ in self._open.values())

    def take(self, message: TeamMessage) -> None:
        """Start to answer a request."""
        controller = AbortController()
        task = asyncio.ensure_future(self._answer(message, controller))
        self._open[message.id] = (message.sender, controller, task)
        task.add_done_callback(lambda _: self._open.pop(message.id, None))

    async def repeat(self, worker: str) -> None:
        """Send a worker the latest answers again, as a kill may have prevented their delivery."""
        answers = [one for one in self._answers.values() if one.to == worker]
        for answer in answers[-MAX_REPEATED:]:
            await self._send(answer)

    def withdraw(self, message: TeamMessage) -> None:
        """Withdraw a request that its worker no longer needs."""
        open_request = self._open.get(str(message.data.get("request_id")))
        if open_request is not None and open_request[0] == message.sender:
            open_request[1].abort("withdrawn")

    def withdraw_all(self, sender: str) -> None:
        """Withdraw all requests of a worker that is gone."""
        for who, controller, _ in tuple(self._open.values()):
            if who == sender:
                controller.abort("the worker is gone")

    async def aclose(self) -> None:
        """Stop; open requests stay unanswered, for the next leader."""
        tasks = [task for _, _, task in self._open.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _answer(self, message: TeamMessage, controller: AbortController) -> None:
        try:
            request = read_request(message.data)
        except msgspec.ValidationError as error:
            self._notify(f"{message.sender} asks for something unreadable: {error}", "warning")
            return
        try:
            # One dialog at a time, as for the calls of one agent.
            async with self._one_by_one:
                decision = await self._decide(request, message.sender, controller)
        except RaceAborted:
            return
        answer = MailAnswerRecord(message.id, message.sender, decision_json(decision))
        self._answers[message.id] = answer
        await self._recorder.write(answer)
        await self._send(answer)

    async def _decide(
        self, forwarded_request: ForwardedRequest, sender: str, controller: AbortController
    ) -> Decision:
        gate, cwd = self._gate(sender), Path(forwarded_request.cwd)
        request = forwarded_request.to_request(sender)
        evaluation = gate.evaluation(request, cwd=cwd)
        decision = evaluation.decision
        if decision.behavior is not Behavior.ASK:
            gate.log(decision, request)
            return decision
        self._notify(f"{sender} waits for permission: {request.tool}", "info")
        return await gate.resolve(
            request, decision, controller.signal, cwd=cwd, evaluation=evaluation
        )

    async def _send(self, answer: MailAnswerRecord) -> None:
        try:
            await self._post.send(
                answer.to,
                "permission_answer",
                data={"request_id": answer.request_id, "decision": answer.decision},
                message_id=derived_id("answer", answer.request_id),
            )
        except (TeamError, OSError) as error:
            self._notify(
                f"The answer to {answer.to} could not be sent: {error_reason(error)}", "warning"
            )
