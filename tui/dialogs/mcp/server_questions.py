"""Asks whether to fill in a server's form, open its address, or send its request to the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from agent.mcp.live.user_port import SamplingChoice
from agent.mcp.server_requests import ElicitationRequest, SamplingRequest
from permissions.base.network.web_address import web_host
from permissions.base.text.sanitize import reveal
from themes.theme import Role
from tui.dialogs.choice_dialog import ChoiceDialog
from tui.dialogs.choices import Choice
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, Run
from tui.text.wrap import wrap

ElicitationStep = Literal["accept", "decline", "cancel"]
UrlStep = Literal["open", "accept", "decline", "cancel"]
_SHOWN_CHARS: Final = 4_000


def form_question(
    request: ElicitationRequest, names: Sequence[str], secrets: Sequence[str], problem: str
) -> ChoiceDialog[ElicitationStep]:
    """Return the question whether to fill in a form; `problem` is the error of the last attempt."""
    values = ", ".join(map(reveal, names)) or "only your consent"

    def body(width: int) -> list[Row]:
        rows = wrap([(reveal(request.message), TEXT)], width)
        rows += [BLANK, *wrap([("It asks for: ", MUTED), (values, Ink(Role.CODE))], width)]
        if secrets:
            secret_names = ", ".join(map(reveal, secrets))
            text = f"{secret_names}: servers must not ask for secrets this way. Do not type any."
            rows += wrap([(text, Ink(Role.WARNING))], width)
        if problem:
            rows += [BLANK, *wrap([(reveal(problem), Ink(Role.ERROR))], width)]
        return rows

    yes = "Fill it in" if names else "Yes"
    answers: list[tuple[Choice, ElicitationStep]] = [
        (Choice(yes), "accept"),
        (Choice("Decline", "the server's request is declined"), "decline"),
        (Choice("Cancel"), "cancel"),
    ]
    title = f"MCP server {reveal(request.server)} asks"
    return ChoiceDialog(title, body, "Answer the server?", answers)


def url_question(request: ElicitationRequest, problem: str) -> ChoiceDialog[UrlStep]:
    """Return the question whether to open an address of a server; `problem` is why the last attempt
    failed."""
    host = web_host(request.url)

    def body(width: int) -> list[Row]:
        rows = wrap([(reveal(request.message), TEXT)], width)
        rows += [BLANK, *wrap(_address(request.url, host), width)]
        if "xn--" in host:
            text = "The host contains look-alike letters."
            rows += wrap([(text, Ink(Role.WARNING))], width)
        if problem:
            rows += wrap([(problem, Ink(Role.WARNING))], width)
        rows += wrap([("What you enter there goes to that site, not to the model.", MUTED)], width)
        return rows

    answers: list[tuple[Choice, UrlStep]] = [
        (Choice("Open it in the browser"), "open"),
        (Choice("I have opened it myself"), "accept"),
        (Choice("Decline", "the server's request is declined"), "decline"),
        (Choice("Cancel"), "cancel"),
    ]
    title = f"MCP server {reveal(request.server)} wants you to open an address"
    return ChoiceDialog(title, body, f"Open {host}?", answers)


def sampling_question(request: SamplingRequest) -> ChoiceDialog[SamplingChoice]:
    """Return the question whether a server may ask the model."""

    def body(width: int) -> list[Row]:
        rows: list[Row] = []
        for role, text in (("system", request.system), *request.messages):
            if text:
                piece = reveal(text[:_SHOWN_CHARS]) + ("…" if len(text) > _SHOWN_CHARS else "")
                rows += wrap([(f"{reveal(role)}: ", MUTED), (piece, TEXT)], width)
        tokens = f"{request.max_tokens:,} tokens"
        note = f"The small model answers with at most {tokens}, at your cost."
        return [*rows, BLANK, *wrap([(note, MUTED)], width)]

    answers = [
        (Choice("Yes, this once"), SamplingChoice.ONCE),
        (
            Choice("Yes, always for this server", "until its definition changes"),
            SamplingChoice.ALWAYS,
        ),
        (Choice("No"), SamplingChoice.NO),
    ]
    title = f"MCP server {reveal(request.server)} wants to ask the model"
    return ChoiceDialog(title, body, "Send this to the model?", answers)


def _address(url: str, host: str) -> list[Run]:
    start = url.index("://") + len("://")
    end = start + len(host)
    return [(url[:start], MUTED), (url[start:end], Ink(Role.CODE, bold=True)), (url[end:], MUTED)]
