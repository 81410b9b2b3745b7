"""Network access for one program, served by its own thread, for callers without an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Mapping

from agent.sandbox.network.call_access import SessionAccess
from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_gate import HostGate
from agent.sandbox.network.host_name import read_host
from agent.sandbox.network.host_rules import HostRules
from agent.sandbox.network.namespace import NamespaceRefused
from agent.sandbox.network.proxy_environment import LOOPBACK
from agent.sandbox.network.session_network import SessionNetwork
from permissions.base.process.spawn import CannotConfine


@contextlib.contextmanager
def network_of_one_program(
    rules: HostRules, call: NetworkCall, env: Mapping[str, str], own_env: Mapping[str, str]
) -> Iterator[SessionAccess]:
    """Yield one program's network access to the hosts of `rules`; it ends with the context.

    A loopback host that a rule allows means the host machine, reached through the proxy.

    Args:
        env: The program's environment.
        own_env: Of this process; names the machine's own proxy, if there is one.

    Raises:
        CannotConfine: the system refuses to create a network namespace.
    """
    by_rule = {
        name for name in LOOPBACK if any(one.matches_host(read_host(name)) for one in rules.allow)
    }
    network = SessionNetwork(
        HostGate(lambda: rules),
        env=own_env,
        direct=[name for name in LOOPBACK if name not in by_rule],
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(network.start(), loop).result()
        yield SessionAccess(network, call, env)
    except NamespaceRefused as error:
        raise CannotConfine(f"there is no network namespace: {error}") from error
    finally:
        asyncio.run_coroutine_threadsafe(network.aclose(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
