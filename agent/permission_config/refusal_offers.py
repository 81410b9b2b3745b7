"""After the sandbox refused a command something, lets the user widen access and run it again.

Does nothing in modes that ask no questions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from agent.sandbox.network.host_name import InvalidHost, read_host
from agent.sandbox.network.host_rules import rule_for
from agent.sandbox.policy import NO_NETWORK, OUTSIDE
from agent.sandbox.refusal_request import DecideRefusal, RefusalAnswer, RefusalRequest
from agent.sandbox.refusals import Refusal, RefusalKind
from agent.sandbox.sandbox import Sandbox
from permissions.confinement import Confinement
from permissions.context import PermissionContext
from permissions.decision import Behavior
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.handlers import user_decision
from permissions.scope.added_directories import may_be_added

_SILENT = frozenset({Mode.PLAN, Mode.DONT_ASK})


class RefusalOffers:
    """Asks the user and applies the answer."""

    def __init__(self, gate: PermissionGate, sandbox: Sandbox, ask: DecideRefusal) -> None:
        """`ask` shows the question."""
        self._gate = gate
        self._sandbox = sandbox
        self._ask = ask

    async def offer(
        self,
        request: PermissionRequest,
        confinement: Confinement,
        refusals: Sequence[Refusal],
        cwd: Path,
    ) -> Confinement | None:
        """Return the confinement under which to run the command again, or None not to.

        Args:
            request: The call that ran, with its `tool_use_id`.
            confinement: Of the first run.
            cwd: The command's working directory.
        """
        context = self._gate.context
        if context.mode in _SILENT:
            return None
        question = RefusalRequest(
            str(request.tool_input.get("command", "")),
            tuple(refusals),
            _directories(refusals, context),
            self._hosts(request.tool_use_id),
            may_leave=context.sandbox.allow_unsandboxed,
        )
        # The other hosts were decided by a rule or the user.
        is_decided = not question.hosts and all(
            one.kind is RefusalKind.CONNECT and one.rule != NO_NETWORK for one in refusals
        )
        if is_decided or not (question.directories or question.hosts or question.may_leave):
            return None
        answer = await self._ask(question)
        if self._gate.evaluate(request, cwd=cwd).behavior is Behavior.DENY:
            # Rules or the mode changed while the question was open.
            return None
        return self._apply_answer(answer, question, request, confinement)

    def _hosts(self, call_id: str) -> tuple[str, ...]:
        """Return the hosts that were refused because no user answered."""
        network = self._sandbox.network
        if network is None:
            return ()
        refusals = (one for one in network.log.refusals(call_id) if one.code == "no-answer")
        return tuple(dict.fromkeys(f"{one.host}:{one.port}" for one in refusals))

    def _apply_answer(
        self,
        answer: RefusalAnswer,
        question: RefusalRequest,
        request: PermissionRequest,
        confinement: Confinement,
    ) -> Confinement | None:
        match answer:
            case RefusalAnswer.DIRECTORIES:
                self._gate.add_directories(question.directories)
            case RefusalAnswer.HOSTS:
                self._grant(question.hosts)
            case RefusalAnswer.OUTSIDE:
                decision = user_decision(
                    Behavior.ALLOW, message="The user let it run once outside the sandbox."
                )
                confinement = Confinement.NONE
                self._gate.log(replace(decision, confinement=confinement), request)
            case RefusalAnswer.NO:
                return None
        return confinement

    def _grant(self, hosts: Sequence[str]) -> None:
        assert self._sandbox.network is not None
        for where in hosts:
            name, _, port = where.rpartition(":")
            try:
                rule = rule_for(read_host(name), int(port))
            except InvalidHost:
                continue
            self._sandbox.network.gate.grant(rule)


def _directories(refusals: Sequence[Refusal], context: PermissionContext) -> tuple[str, ...]:
    """Return the directories of refused writes that may be opened for a session."""
    directories = (
        _existing_directory(one.target)
        for one in refusals
        if one.kind is RefusalKind.WRITE and one.rule == OUTSIDE and one.target
    )
    return tuple(dict.fromkeys(path for path in directories if may_be_added(path, context)))


def _existing_directory(path: str) -> str:
    """Return the nearest parent directory that exists."""
    directory = os.path.realpath(os.path.dirname(path))
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    return directory
