"""Decides whether a call may reach a host: deny rules, allow rules, grants, then a question."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from agent.sandbox.network.address_check import inner_kind
from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_name import HostName, authority
from agent.sandbox.network.host_rules import HostRule, HostRules, rule_for

WAIT_S: Final = 60.0
"""How long a connection waits for an answer; programs give up soon after."""
MAX_QUESTIONS: Final = 8
"""Asked at once; a command that tries hundreds of hosts must not open hundreds of dialogs."""
_ASKED_ABOUT: Final = frozenset({"loopback", "private", "unique-local", "this machine's own"})
"""Kinds of internal addresses that a user may grant when asked; the others need a rule."""


class HostRequest(Struct, frozen=True):
    """A question: may this call connect to this host?"""

    host: str
    """Canonical; an IPv6 address has no brackets."""
    port: int
    call: NetworkCall
    """The first call that asked."""
    kind: str | None
    """Of an internal address (`loopback`, `private`, …); None for names and public addresses."""


class HostAnswer(Struct, frozen=True):
    """The answer to a question about a host. An allow lasts for the session."""

    is_allowed: bool
    comment: str = ""
    """What the user wrote for the model; empty for a plain answer."""
    always: bool = False
    """Whether the user wants it stored as a rule of the project."""


DecideHost = Callable[[HostRequest], Awaitable[HostAnswer]]
"""Asks a user. Cancelled when no call waits for the answer any more."""


class HostVerdict(Struct, frozen=True):
    """Whether a connection is allowed by its name."""

    is_allowed: bool
    code: str
    """`rule`, `grant` or `user` for an allow; else as in the header `X-Proxy-Error`."""
    reason: str
    """For users and the model; names the rule that decided."""


class _Question:
    """One open question and how many connections wait for it."""

    def __init__(self, answer: asyncio.Task[HostVerdict]) -> None:
        self.answer = answer
        self.waiting = 0


class HostGate:
    """Decides about hosts for one session; what users grant ends with it."""

    def __init__(
        self,
        read_rules: Callable[[], HostRules],
        asker: Callable[[], DecideHost | None] = lambda: None,
        *,
        wait_s: float = WAIT_S,
        on_grant: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Nothing is granted yet.

        Args:
            read_rules: Returns the current rules of settings and permissions.
            asker: Returns the function that asks the user; None refuses a host without a rule at
                once.
            on_grant: Called with the text of each rule that is granted.
        """
        self._on_grant = on_grant
        self._read_rules = read_rules
        self._asker = asker
        self._wait_s = wait_s
        self._grants: list[HostRule] = []
        self._questions: dict[tuple[str, int], _Question] = {}
        self._refusals: dict[tuple[str, str, int], HostVerdict] = {}
        """By call id, host and port: a refusal by the user holds for the rest of that call."""

    @property
    def rules(self) -> HostRules:
        """The rules in force, with what was granted."""
        rules = self._read_rules()
        return HostRules((*rules.allow, *self._grants), rules.deny)

    def grant(self, rule: HostRule) -> None:
        """Allow a host until the session ends; deny rules still hold."""
        if rule not in self._grants:
            self._grants.append(rule)
            self._on_grant(rule.text)

    async def decide(self, host: HostName, port: int, call: NetworkCall) -> HostVerdict:
        """Decide by the name of a host whether a connection may be made.

        Its addresses are checked afterwards. Waits for the user at most `wait_s` seconds.
        """
        where = authority(host, port)
        rules = self.rules
        deny_rule = rules.denying(host, port)
        if deny_rule is not None:
            reason = f"{where} is denied by the rule {deny_rule.text}"
            return HostVerdict(False, "blocked-by-denylist", reason)
        allow_rule = rules.allowing(host, port)
        if allow_rule is not None:
            code = "grant" if allow_rule.source is None else "rule"
            return HostVerdict(True, code, f"{where} is allowed by {allow_rule.text}")
        kind = inner_kind(host)
        if kind is not None and kind not in _ASKED_ABOUT:
            reason = f"{where} is an address that is {kind}; no rule allows this very address"
            return HostVerdict(False, "blocked-by-address", reason)
        decide_host = self._asker()
        if decide_host is None:
            reason = f"{where} is not an allowed host, and no user can approve it"
            return HostVerdict(False, "blocked-by-allowlist", reason)
        refusal = self._refusals.get((call.id, host.text, port))
        if refusal is not None:
            return refusal
        request = HostRequest(host.text, port, call, kind)
        return await self._ask(decide_host, host, request)

    def end_call(self, call_id: str) -> None:
        """Forget the refusals of a call."""
        for key in [key for key in self._refusals if key[0] == call_id]:
            del self._refusals[key]

    async def aclose(self) -> None:
        """Withdraw all open questions."""
        questions = [question.answer for question in self._questions.values()]
        for answer in questions:
            answer.cancel()
        await asyncio.gather(*questions, return_exceptions=True)

    async def _ask(
        self, decide_host: DecideHost, host: HostName, request: HostRequest
    ) -> HostVerdict:
        """Join the open question about the host, or ask it, and wait for the answer."""
        key = (request.host, request.port)
        where = authority(host, request.port)
        question = self._questions.get(key)
        if question is None:
            if len(self._questions) >= MAX_QUESTIONS:
                reason = f"{where} is not an allowed host, and {MAX_QUESTIONS} questions are open"
                return HostVerdict(False, "blocked-by-allowlist", reason)
            answer = asyncio.ensure_future(self._put(decide_host, host, request))
            question = self._questions[key] = _Question(answer)
        question.waiting += 1
        try:
            await asyncio.wait({question.answer}, timeout=self._wait_s)
            if not question.answer.done():
                reason = f"{where}: no one answered within {self._wait_s:.0f} s"
                return HostVerdict(False, "no-answer", reason)
            if question.answer.cancelled():
                return HostVerdict(False, "no-answer", f"{where}: the question was withdrawn")
            verdict = question.answer.result()
        finally:
            question.waiting -= 1
            if not question.waiting:
                question.answer.cancel()
                if self._questions.get(key) is question:
                    del self._questions[key]
        if verdict.code == "blocked-by-user":
            self._refusals[request.call.id, request.host, request.port] = verdict
        return verdict

    async def _put(
        self, decide_host: DecideHost, host: HostName, request: HostRequest
    ) -> HostVerdict:
        where = authority(host, request.port)
        try:
            answer = await decide_host(request)
        except Exception as error:  # noqa: BLE001 - whatever breaks while asking, nothing is allowed
            return HostVerdict(False, "no-answer", f"{where}: the question failed: {error}")
        if answer.is_allowed:
            self.grant(rule_for(host, request.port))
            return HostVerdict(True, "user", f"the user allowed {where}")
        comment = f": {answer.comment}" if answer.comment else ""
        return HostVerdict(False, "blocked-by-user", f"the user refused {where}{comment}")
