"""The variables that point programs at the proxy, with the credentials of one call."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Final

from agent.sandbox.network.call_tokens import USER

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def proxy_environment(
    token: str, port: int, env: Mapping[str, str], direct: Sequence[str] = LOOPBACK
) -> dict[str, str]:
    """Return the variables for a command that reaches the proxy on loopback.

    Args:
        token: Proxy password of the call.
        env: The command's environment. Its `PATH` is searched for a program that ssh can use as
            proxy command, unless `GIT_SSH_COMMAND` is set.
        direct: Hosts that programs reach without the proxy: those inside the namespace.
    """
    url = f"http://{USER}:{token}@127.0.0.1:{port}"
    # No socks:// URL: without an optional package, httpx raises an error for it.
    by_name = {
        "HTTP_PROXY": url,
        "HTTPS_PROXY": url,
        "ALL_PROXY": url,
        "GRPC_PROXY": url,
        "NO_PROXY": ",".join(direct),
    }
    variables = {**by_name, **{name.lower(): value for name, value in by_name.items()}}
    # Node uses proxy variables only if told so; git would first try without credentials.
    variables |= {"NODE_USE_ENV_PROXY": "1", "GIT_HTTP_PROXY_AUTHMETHOD": "basic"}
    helper = _ssh_helper(token, port, env.get("PATH", ""))
    if helper is not None and "GIT_SSH_COMMAND" not in env:
        variables["GIT_SSH_COMMAND"] = f"ssh -o ProxyCommand='{helper}'"
    return variables


def _ssh_helper(token: str, port: int, search_path: str) -> str | None:
    """Return ssh's proxy command; None if no suitable program is installed."""
    if shutil.which("socat", path=search_path):
        return f"socat - PROXY:127.0.0.1:%h:%p,proxyport={port},proxyauth={USER}:{token}"
    if shutil.which("ncat", path=search_path):
        return f"ncat --proxy 127.0.0.1:{port} --proxy-type http --proxy-auth {USER}:{token} %h %p"
    if shutil.which("nc.openbsd", path=search_path):
        return f"nc.openbsd -X connect -x 127.0.0.1:{port} %h %p"
    return None
