"""The network access of one running call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.session_network import SessionNetwork

_FAILURES: Final = frozenset({"name-not-resolved", "too-slow", "bad-request", "head-too-large"})
"""Codes of failures that are not refusals."""


class SessionAccess:
    """Access to the session's network for one call; to be closed at its end."""

    def __init__(self, network: SessionNetwork, call: NetworkCall, env: Mapping[str, str]) -> None:
        """Issue credentials; the network must have been started."""
        self._network = network
        self._call = network.open_call(call, env)
        self._is_open = True

    @property
    def join_argv(self) -> tuple[str, ...]:
        """The command-line prefix that enters the session's namespace."""
        return self._call.join_argv

    @property
    def descriptors(self) -> tuple[int, ...]:
        """File descriptors that the prefix must inherit."""
        return self._call.descriptors

    @property
    def env(self) -> Mapping[str, str]:
        """Variables that point programs at the proxy."""
        return self._call.env

    def refused_hosts(self) -> tuple[tuple[str, str], ...]:
        """Return `host:port` and the reason of each connection that was refused."""
        records = self._network.log.refusals(self._call.call.id)
        return tuple(
            (f"{record.host}:{record.port}", record.reason)
            for record in records
            if record.code not in _FAILURES
        )

    def close(self) -> None:
        """Revoke the credentials."""
        if self._is_open:
            self._is_open = False
            self._network.close_call(self._call)
