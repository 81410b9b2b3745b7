"""The network of one session: its namespace and proxy, made when a call first needs them."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.sandbox.network.call_tokens import CallTokens, NetworkCall
from agent.sandbox.network.host_gate import HostGate
from agent.sandbox.network.host_log import HostLog, HostRecord
from agent.sandbox.network.namespace import PROXY_PORT, NetworkNamespace
from agent.sandbox.network.proxy_environment import LOOPBACK, proxy_environment

if TYPE_CHECKING:
    from agent.sandbox.network.proxy import FilteringProxy


class CallNetwork(Struct, frozen=True):
    """What one call needs to run in the session's namespace."""

    call: NetworkCall
    token: str
    join_argv: tuple[str, ...]
    """The command-line prefix; empty where there are no namespaces."""
    descriptors: tuple[int, ...]
    """Descriptors that the program must inherit; this process still owns them."""
    env: Mapping[str, str]
    """Additional environment variables of the program."""


class SessionNetwork:
    """Network access for the confined programs of a session."""

    def __init__(
        self,
        gate: HostGate,
        *,
        env: Mapping[str, str],
        on_record: Callable[[HostRecord], None] | None = None,
        has_namespaces: bool = sys.platform == "linux",
        direct: Sequence[str] = LOOPBACK,
    ) -> None:
        """Nothing is started yet.

        Args:
            env: Of this program; names the machine's own proxy, if there is one.
            on_record: Receives every decision, for the audit; must not raise.
            has_namespaces: If false, the proxy listens on the host's loopback, on a free port, and
                serves no client without the credentials of a call.
            direct: Hosts that programs reach without the proxy.
        """
        self._direct = direct
        self._has_namespaces = has_namespaces
        self.gate = gate
        self.log = HostLog(on_record)
        self._env = env
        self._calls = CallTokens()
        self._starting = asyncio.Lock()
        self._namespace: NetworkNamespace | None = None
        self._proxy: FilteringProxy | None = None
        self._port = PROXY_PORT

    async def start(self) -> None:
        """Create the namespace and start the proxy, unless already done.

        Raises:
            NamespaceRefused: the system refuses to create the namespace.
        """
        from agent.sandbox.network.proxy import FilteringProxy  # with the first such command

        async with self._starting:
            if self._proxy is not None:
                return
            if self._has_namespaces:
                self._namespace = await NetworkNamespace.create()
                listener = self._namespace.listener
            else:
                listener = socket.create_server(("127.0.0.1", 0))
                self._port = int(listener.getsockname()[1])
            proxy = FilteringProxy(
                self.gate,
                self._calls,
                self.log,
                env=self._env,
                requires_credentials=not self._has_namespaces,
            )
            await proxy.serve(listener)
            self._proxy = proxy

    def open_call(self, call: NetworkCall, env: Mapping[str, str]) -> CallNetwork:
        """Issue credentials for a call and return its network access; call `start` first.

        Args:
            env: The command's environment.
        """
        assert self._proxy is not None
        namespace = self._namespace
        token = self._calls.issue(call)
        return CallNetwork(
            call,
            token,
            namespace.join_argv if namespace is not None else (),
            namespace.descriptors if namespace is not None else (),
            proxy_environment(token, self._port, env, self._direct),
        )

    def close_call(self, network: CallNetwork) -> None:
        """Revoke the credentials of a call; call it when its last process has ended."""
        self._calls.revoke(network.token)
        self.gate.end_call(network.call.id)

    async def aclose(self) -> None:
        """Withdraw open questions, stop the proxy and release the namespace."""
        async with self._starting:
            await self.gate.aclose()
            if self._proxy is not None:
                await self._proxy.aclose()
            if self._namespace is not None:
                self._namespace.close()
            self._proxy = self._namespace = None
