"""Converts the SDK's errors of a connection to ours, with texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx2
import mcp_types as types
from mcp import MCPError
from mcp.client.auth import OAuthFlowError

from agent.mcp.mcp_errors import ConnectFailed, McpError, NeedsSignIn, RemoteError
from agent.mcp.protocol.http_traffic import TrafficLog
from agent.mcp.protocol.offer_reading import cut

_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})


def read_failure(
    error: BaseException, traffic: TrafficLog | None, *, can_sign_in: bool
) -> McpError:
    """Return our error for an exception of the SDK, which may be a group."""
    leaves = list(_leaf_errors(error))
    for leaf in leaves:
        if isinstance(leaf, NeedsSignIn):
            return leaf
        if isinstance(leaf, OAuthFlowError):
            return ConnectFailed(f"signing in failed: {cut(str(leaf), 500)}")
    for leaf in leaves:
        if isinstance(leaf, ConnectFailed):
            return leaf
    status = traffic.error_status if traffic is not None else None
    if status in {401, 403} and can_sign_in:
        return NeedsSignIn(f"it requires you to sign in (HTTP {status})")
    if status is not None:
        return _refusal_error(status)
    for leaf in leaves:
        if isinstance(leaf, McpError):
            return leaf
    return _to_mcp_error(leaves[0], is_remote=traffic is not None)


def _refusal_error(status: int) -> McpError:
    match status:
        case 401 | 403:
            return ConnectFailed(f"the server refused the request (HTTP {status})")
        case 404:
            return ConnectFailed("there is no MCP server at this address (HTTP 404)")
        case _:
            return ConnectFailed(
                f"the server answered with HTTP {status}", is_transient=status in _PASSING
            )


def _to_mcp_error(error: BaseException, *, is_remote: bool) -> McpError:
    match error:
        case TimeoutError() | httpx2.TimeoutException():
            return ConnectFailed("it did not answer in time", is_transient=is_remote)
        case MCPError() if error.code == types.CONNECTION_CLOSED:
            return ConnectFailed("it closed the connection", is_transient=is_remote)
        case MCPError():
            return RemoteError(cut(str(error), 500), error.code)
        case httpx2.HTTPError():
            text = cut(str(error), 300) or type(error).__name__
            return ConnectFailed(f"it cannot be reached: {text}", is_transient=True)
        case _:
            return ConnectFailed(cut(str(error), 500) or type(error).__name__)


def _leaf_errors(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaf_errors(inner)
    else:
        yield error
