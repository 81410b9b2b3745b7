"""Signs in to a server, in the browser or by pasting the address that the browser was sent to."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from agent.mcp.mcp_errors import McpError
from agent.mcp.server_state import ServerState
from tui.panels.line_entry import LineEntry
from tui.ports.command_screen import CommandScreen
from tui.terminal.open_address import open_address
from tui.text.safe_text import shown_line

if TYPE_CHECKING:
    from agent.mcp.auth.sign_in_surface import SignInSurface
    from agent.mcp.live.live_servers import LiveServers

_HOW = (
    "If the browser ends at an address that cannot be reached, paste that address here. It "
    "begins with http://localhost or http://127.0.0.1."
)


class ScreenSignIn:
    """One sign-in, with a field for the address that the browser was sent to."""

    def __init__(self, screen: CommandScreen, name: str) -> None:
        """Requires a running event loop; nothing is shown yet."""
        self._screen = screen
        self._name = name
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.cancellation = asyncio.Event()
        """Set when the user cancels."""

    async def show(self, url: str) -> None:
        """Open an address in the browser, and pass it to `read_pasted_address`."""
        if not self._address.done():
            self._address.set_result(url)
        open_address(url)

    async def read_pasted_address(self) -> str:
        """Show the address and return the one that the user pastes; never returns after Esc."""
        url = await self._address
        text = f"Open this address to sign in:\n{url}\n{_HOW}"
        entry = LineEntry(
            f"Sign in to {shown_line(self._name)}",
            text,
            "enter done · tab copy the address · esc cancel",
            address=url,
            copy=self._copy,
        )
        answer = await self._screen.show_dialog(entry)
        if answer is not None:
            return answer
        self.cancellation.set()
        return await asyncio.Future()

    def _copy(self, address: str) -> None:
        self._screen.workspace.copy_to_clipboard(address)
        self._screen.hint("address copied")


async def sign_in(screen: CommandScreen, live: LiveServers, name: str) -> None:
    """Sign in to a server, until that succeeds or the user cancels."""
    surface = ScreenSignIn(screen, name)
    work = asyncio.ensure_future(live.servers.sign_in(name, surface))
    waiting = asyncio.ensure_future(surface.cancellation.wait())
    try:
        await asyncio.wait((work, waiting), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if not work.done():
        work.cancel()
        await asyncio.wait({work})
        with contextlib.suppress(McpError):
            await live.reconnect(name)
        return
    try:
        view = work.result()
    except McpError as error:
        screen.notice(shown_line(str(error)), "warning")
        return
    if view.state is ServerState.CONNECTED:
        screen.notice(f"Signed in to {shown_line(name)}.")
    else:
        screen.notice(f"Not signed in to {shown_line(name)}: {shown_line(view.reason)}", "warning")


if TYPE_CHECKING:

    def _check_protocol(surface: ScreenSignIn) -> SignInSurface:
        return surface
