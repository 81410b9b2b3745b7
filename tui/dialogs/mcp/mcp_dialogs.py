"""Asks the user about MCP servers and for them, through the front end's dialogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.mcp.configuration.consent_store import ConsentAnswer
from agent.mcp.configuration.tool_pins import ToolChange
from agent.mcp.elicited_values import FormValue
from agent.mcp.live.user_port import McpUser, SamplingChoice
from agent.mcp.server_requests import ElicitationAnswer, ElicitationRequest, SamplingRequest
from tui.dialogs.dialog import ShowDialog
from tui.dialogs.mcp.changed_tools import changed_tools
from tui.dialogs.mcp.elicited_form import BadValueError, FormField, form_fields, secret_fields
from tui.dialogs.mcp.server_approval import server_approval
from tui.dialogs.mcp.server_questions import form_question, sampling_question, url_question
from tui.dialogs.question import QuestionDialog
from tui.terminal.open_address import open_address
from tui.text.highlight import Highlighter


class McpDialogs:
    """Shows the dialogs about MCP servers."""

    def __init__(self, show: ShowDialog) -> None:
        """`show` closes the dialog when it is cancelled."""
        self._show = show

    async def approve_server(self, server: ConfiguredServer) -> ConsentAnswer | None:
        """Return whether a project's server may start; None if the user decides later."""
        return await self._show(server_approval(server))

    async def accept_changes(self, server: str, changes: Sequence[ToolChange]) -> bool:
        """Return whether tools that a server has changed may be used."""
        return await self._show(changed_tools(server, changes))

    async def allow_sampling(self, request: SamplingRequest) -> SamplingChoice:
        """Return whether a server may send this request to the model."""
        return await self._show(sampling_question(request))

    async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        """Return the user's answer to a server's request."""
        if request.mode == "url":
            problem = ""
            while (step := await self._show(url_question(request, problem))) == "open":
                if open_address(request.url):
                    return ElicitationAnswer("accept")
                problem = "No browser could be started here. Open the address elsewhere."
            return ElicitationAnswer(step)
        return await self._form(request)

    async def _form(self, request: ElicitationRequest) -> ElicitationAnswer:
        fields = form_fields(request.schema)
        names, secrets = [field.name for field in fields], secret_fields(fields)
        problem = ""
        while True:
            step = await self._show(form_question(request, names, secrets, problem))
            if step != "accept":
                return ElicitationAnswer(step)
            if not fields:
                return ElicitationAnswer("accept", {})
            questions = [field.question for field in fields]
            answers = await self._show(QuestionDialog(questions, Highlighter()))
            if answers is None:
                continue
            values, problem = _values(fields, answers)
            if not problem:
                return ElicitationAnswer("accept", values)


def _values(
    fields: Sequence[FormField], answers: Mapping[str, str]
) -> tuple[dict[str, FormValue], str]:
    """Return the values of a form, and a message about an invalid one; "" if all are valid."""
    values: dict[str, FormValue] = {}
    for field in fields:
        answer = answers.get(field.question.question)
        try:
            value = field.value(answer) if answer is not None else None
        except BadValueError as error:
            return {}, f"{field.name}: {error}."
        if value is not None:
            values[field.name] = value
        elif field.is_required:
            return {}, f"{field.name}: it must be filled in."
    return values, ""


if TYPE_CHECKING:

    def _check_protocol(dialogs: McpDialogs) -> McpUser:
        return dialogs
