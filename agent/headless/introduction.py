"""`initialize`: what the calling program of a stream-json run provides, and what it asks for.

Hooks of the program may be guards, so nothing is ignored silently: a request with a part that this
version does not know ends the run. Next: `agent.headless.control_protocol`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import UsageError
from agent.options import RunOptions
from agent.subagents.definition import AgentSource
from agent.subagents.definition_fields import NoAgent, agent_from_json
from hooks.config.match import MatchNothing, parse_matcher
from hooks.config.section import FAILURE_POLICIES
from hooks.config.spec import CallbackHandler, HandlerSpec, HookSource
from hooks.events import EVENTS
from hooks.events.capabilities import GUARDS

OWNER: Final = "calling program"

Request = Mapping[str, object]
Fire = Callable[[str, Request], Awaitable[Request | None]]
"""Sends an event's payload to the callback with this id and returns its output."""

_WITHOUT_EFFECT: Final = frozenset(
    {
        "subtype",
        "agentProgressSummaries",
        "excludeDynamicSections",
        "forwardNestedSubagentToolCalls",
        "keepsBypassHeld",
        "offersBypassSwitchBack",
        "perTaskStopAffordance",
        "promptSuggestions",
        "rapidFollowupPreempt",
        "sdkMcpServerConfigs",
        "sdkMcpServerManifests",
        "sdkMcpServerManifestsOrigin",
        "supportedDialogKinds",
        "systemPromptSnapshot",
        "webSearchIsolationExemptMcpServers",
    }
)
"""Parts that concern only the display of a run, or servers that are not connected."""


class IntroductionError(UsageError):
    """A part of `initialize` that cannot be honored; without it the run must not continue."""


class Introduction(Struct, frozen=True):
    """What the calling program provides, and the options that it sets."""

    hooks: tuple[HandlerSpec, ...] = ()
    servers: tuple[str, ...] = ()
    """Names of the MCP servers inside the calling program."""
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    title: str | None = None
    skills: tuple[str, ...] | None = None
    """Skills that are listed for the model; None means all."""
    mcp_config: str | None = None
    """Servers as JSON text."""
    agents: Mapping[str, object] | None = None
    """Definitions of agents by name."""
    forwards_agent_text: bool | None = None
    """Whether texts of agents are part of the output; None leaves the option as it is."""
    json_schema: str | None = None
    """Schema of the answers, as JSON text."""

    def applied_to(self, options: RunOptions) -> RunOptions:
        """Return the options of the command line, replaced by those that the request sets."""
        values = {
            "system_prompt": self.system_prompt or None,
            "append_system_prompt": self.append_system_prompt,
            "name": self.title,
            "skills": self.skills,
            "agents": self.agents,
            "json_schema": self.json_schema,
            "forwards_agent_text": self.forwards_agent_text,
        }
        changes: dict[str, object] = {
            name: value for name, value in values.items() if value is not None
        }
        if self.system_prompt == "" and options.system_prompt is None:
            changes["system_prompt"] = ""
        inside = {name: {"type": "sdk", "name": name} for name in self.servers}
        of_caller = [json.dumps({"mcpServers": inside})] if inside else []
        configs = [*of_caller, *([self.mcp_config] if self.mcp_config is not None else [])]
        if configs:
            changes["mcp_configs"] = (*options.mcp_configs, *configs)
        return replace(options, **changes)

    @property
    def needs_a_start(self) -> bool:
        """Whether it sets options that cannot change once a conversation has begun."""
        return self.applied_to(_NO_OPTIONS) != _NO_OPTIONS


_NO_OPTIONS: Final = RunOptions(system_prompt="")


def read_introduction(request: Request, fire: Fire) -> Introduction:
    """Parse an `initialize` request; its hooks will call `fire`.

    Raises:
        IntroductionError: a part has the wrong shape or is not understood.
    """
    hooks = _hooks(request.get("hooks"), fire)
    parts = {name: value for name, value in request.items() if value and name != "hooks"}
    unknown = parts.keys() - _WITHOUT_EFFECT - _READ
    if unknown:
        names = ", ".join(sorted(unknown))
        raise IntroductionError(
            f"initialize: this version cannot do what these ask for: {names}. Leave them out."
        )
    prompt = request.get("systemPrompt")
    servers, skills = request.get("mcpServers"), request.get("skills")
    return Introduction(
        hooks,
        tuple(_texts(request.get("sdkMcpServers") or [], "sdkMcpServers")),
        _system_prompt(prompt) if prompt is not None else None,
        _text(request, "appendSystemPrompt"),
        _text(request, "title"),
        tuple(_texts(skills, "skills")) if skills is not None else None,
        json.dumps({"mcpServers": servers}) if servers else None,
        _agents(request.get("agents")),
        True if request.get("forwardSubagentText") else None,
        json.dumps(request["jsonSchema"]) if request.get("jsonSchema") else None,
    )


_READ: Final = frozenset(
    {
        "agents",
        "sdkMcpServers",
        "mcpServers",
        "systemPrompt",
        "appendSystemPrompt",
        "title",
        "skills",
        "jsonSchema",
        "forwardSubagentText",
    }
)


def _agents(definitions: object) -> Mapping[str, object] | None:
    """Return the definitions of agents. Raises IntroductionError if one cannot be used."""
    if not definitions:
        return None
    if not isinstance(definitions, Mapping):
        raise IntroductionError("initialize: agents: expected an object of agents")
    for name, raw in definitions.items():
        try:
            definition = agent_from_json(str(name), raw, source=AgentSource.FLAG)
        except NoAgent as error:
            raise IntroductionError(f"initialize: agents: {name} {error}") from error
        if definition.problems:
            raise IntroductionError(f"initialize: agents: {name}: {'; '.join(definition.problems)}")
    return definitions


def _system_prompt(value: object) -> str:
    if isinstance(value, str):
        return value
    return "\n\n".join(_texts(value, "systemPrompt"))


def _text(request: Request, name: str) -> str | None:
    value = request.get(name) or None
    if not isinstance(value, str | None):
        raise IntroductionError(f"initialize: {name}: expected text")
    return value


def _hooks(by_event: object, fire: Fire) -> tuple[HandlerSpec, ...]:
    """Parse `hooks`: matchers with the ids of their callbacks, by event."""
    if by_event is None:
        return ()
    if not isinstance(by_event, Mapping):
        raise IntroductionError("hooks: expected an object of events")
    specs: list[HandlerSpec] = []
    for event, entries in by_event.items():
        if event not in EVENTS:
            raise IntroductionError(f"hooks: there is no event {event!r}")
        if not isinstance(entries, list) or not all(isinstance(e, Mapping) for e in entries):
            raise IntroductionError(
                f"hooks: {event}: expected a list of matchers with their callbacks"
            )
        for entry in entries:
            specs.extend(_specs(str(event), entry, fire, len(specs)))
    return tuple(specs)


def _specs(event: str, entry: Request, fire: Fire, position: int) -> list[HandlerSpec]:
    matcher, timeout_s = entry.get("matcher"), entry.get("timeout")
    if not isinstance(matcher, str | None):
        raise IntroductionError(f"hooks: {event}: matcher: expected text")
    if isinstance(read := parse_matcher(matcher), MatchNothing):
        raise IntroductionError(f"hooks: {event}: matcher: {read.reason}")
    # If a guard fails, the call must be blocked.
    usual = "block" if event in GUARDS else "ignore"
    on_failure = entry.get("onFailure", usual)
    if not isinstance(on_failure, str) or on_failure not in FAILURE_POLICIES:
        raise IntroductionError(f'hooks: {event}: onFailure: expected "block" or "ignore"')
    return [
        HandlerSpec(
            event=event,
            matcher=matcher,
            handler=CallbackHandler(f"calling program: {name}", partial(fire, name)),
            source=HookSource.CODE,
            position=place,
            timeout_s=timeout_s if isinstance(timeout_s, int | float) else None,
            blocks_on_failure=FAILURE_POLICIES[on_failure],
            owner=OWNER,
        )
        for place, name in enumerate(
            _texts(entry.get("hookCallbackIds"), f"hooks: {event}: hookCallbackIds"), position
        )
    ]


def _texts(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise IntroductionError(f"{where}: expected a list of strings")
    return value
