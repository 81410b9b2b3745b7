"""Reads the fields of one handler object."""

from __future__ import annotations

from collections.abc import Mapping

from hooks.config.spec import (
    AgentHandler,
    CommandHandler,
    Handler,
    HttpHandler,
    McpToolHandler,
    PromptHandler,
)


class FieldError(ValueError):
    """A handler lacks a required field, or a field has the wrong type."""


def read_handler(raw: Mapping[str, object]) -> Handler:
    """Return the handler that an object describes. Raises FieldError."""
    kind = raw.get("type")
    if kind is None and isinstance(raw.get("command"), str):
        kind = "command"
    match kind:
        case "command":
            return _command(raw)
        case "http":
            return HttpHandler(
                url=_text(raw, "url"),
                headers=_headers(raw),
                allowed_env_vars=_names(raw, "allowedEnvVars"),
                is_async=_flag(raw, "async"),
            )
        case "mcp_tool":
            tool_input = raw.get("input", {})
            if not isinstance(tool_input, Mapping):
                raise FieldError("`input` must be an object")
            return McpToolHandler(
                server=_text(raw, "server"), tool=_text(raw, "tool"), input=tool_input
            )
        case "prompt":
            return PromptHandler(
                prompt=_text(raw, "prompt"),
                model=_optional_text(raw, "model"),
                continue_on_block=_flag(raw, "continueOnBlock"),
            )
        case "agent":
            return AgentHandler(prompt=_text(raw, "prompt"), model=_optional_text(raw, "model"))
        case None:
            raise FieldError("`type` is missing (command, http, mcp_tool, prompt or agent)")
        case _:
            raise FieldError(f"unknown `type` {kind!r} (command, http, mcp_tool, prompt or agent)")


def _command(raw: Mapping[str, object]) -> CommandHandler:
    args = raw.get("args")
    if args is not None and not (
        isinstance(args, list) and all(isinstance(entry, str | int | float) for entry in args)
    ):
        raise FieldError("`args` must be a list of text")
    shell = raw.get("shell", "bash")
    if shell not in ("bash", "powershell"):
        raise FieldError(f'`shell` must be "bash" or "powershell", found {shell!r}')
    return CommandHandler(
        command=_text(raw, "command"),
        args=None if args is None else tuple(str(entry) for entry in args),
        shell=str(shell),
        is_async=_flag(raw, "async"),
        async_rewake=_flag(raw, "asyncRewake"),
    )


def _headers(raw: Mapping[str, object]) -> dict[str, str]:
    headers = raw.get("headers", {})
    if not isinstance(headers, Mapping):
        raise FieldError("`headers` must be an object")
    return {str(name): str(value) for name, value in headers.items()}


def _names(raw: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = raw.get(name, [])
    if not isinstance(value, list):
        raise FieldError(f"`{name}` must be a list of names")
    return tuple(str(entry) for entry in value)


def _text(raw: Mapping[str, object], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str) or not value.strip():
        raise FieldError(f"`{name}` is missing or not text")
    return value


def _optional_text(raw: Mapping[str, object], name: str) -> str | None:
    value = raw.get(name)
    return value if isinstance(value, str) and value else None


def _flag(raw: Mapping[str, object], name: str) -> bool:
    return raw.get(name) is True
