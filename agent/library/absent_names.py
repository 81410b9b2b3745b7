"""Names of the Agents SDK that this library lacks, with their replacements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_BY_NAME: Final = "name models by provider, as in Agent(model='openai/gpt-5')"
_VENDOR: Final = "tools that run on one vendor's servers are not available; write a function tool"
_SESSION: Final = "use SQLiteSession or TranscriptSession"
_RETRY: Final = "retries follow the program's settings"

_INSTEAD: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "MultiProvider",
            "OpenAIChatCompletionsModel",
            "OpenAIProvider",
            "OpenAIResponsesModel",
            "OpenAIResponsesWSModel",
            "set_default_openai_api",
            "set_default_openai_client",
            "set_default_openai_key",
        ),
        _BY_NAME,
    ),
    **dict.fromkeys(
        (
            "CodeInterpreterTool",
            "ComputerTool",
            "FileSearchTool",
            "HostedMCPTool",
            "ImageGenerationTool",
            "ToolSearchTool",
            "WebSearchTool",
        ),
        _VENDOR,
    ),
    **dict.fromkeys(
        ("ApplyPatchTool", "LocalShellTool", "ShellTool"),
        "CodingAgent has tools for files and commands: CodingAgent(…).as_tool(…)",
    ),
    **dict.fromkeys(("OpenAIConversationsSession", "OpenAIResponsesCompactionSession"), _SESSION),
    **dict.fromkeys(("ModelRetrySettings", "RetryDecision", "retry_policies"), _RETRY),
    "set_tracing_export_api_key": "traces go to processors alone: add_trace_processor(…)",
}


def absent(name: str) -> ImportError | None:
    """Return the error that `from agent import name` raises; None for a name the SDK lacks, too.

    Not an `AttributeError`: Python would replace its text.
    """
    instead = _INSTEAD.get(name)
    if instead is None:
        return None
    return ImportError(f"{name} of the Agents SDK is not in this library: {instead}.", name="agent")
