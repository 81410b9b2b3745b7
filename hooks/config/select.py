"""Selects the handlers that run for an event, each with the reason; starts nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hooks.config.condition import applies
from hooks.config.match import covers, parse_matcher
from hooks.config.spec import HandlerSpec, is_background
from hooks.events.capabilities import EFFECTS, default_timeout_s
from hooks.ports import HookSession


class Selection(Struct, frozen=True):
    """Whether one handler runs for one event."""

    spec: HandlerSpec
    fires: bool
    why: str


def select(
    specs: tuple[HandlerSpec, ...],
    event: str,
    payload: Mapping[str, object],
    session: HookSession,
    *,
    finished_once: Collection[tuple[object, ...]] = (),
) -> tuple[Selection, ...]:
    """Return the selection of every handler of an event, in configuration order."""
    value = matcher_value(event, payload)
    strict = EFFECTS[event].strict_exact_matcher
    is_agent = EFFECTS[event].matcher_field == "agent_type"
    first_index: dict[tuple[object, ...], int] = {}
    choices: list[Selection] = []
    for spec in specs:
        if spec.only_agent is not None and payload.get("agent_id") != spec.only_agent:
            choices.append(Selection(spec, False, f"it is for the agent {spec.only_agent} alone"))
        elif value is not None and not covers(
            parse_matcher(spec.matcher, strict_exact=strict), value, is_agent=is_agent
        ):
            choices.append(
                Selection(spec, False, f"matcher {spec.matcher!r} does not cover {value!r}")
            )
        elif spec.runs_once and spec.key in finished_once:
            choices.append(Selection(spec, False, "`once`, and it has run"))
        elif spec.condition is not None and not _condition_holds(spec.condition, payload, session):
            choices.append(Selection(spec, False, f"`if` {spec.condition} does not apply"))
        elif spec.identity in first_index:
            first = first_index[spec.identity]
            choices[first] = replace(choices[first], spec=_strictest(choices[first].spec, spec))
            choices.append(Selection(spec, False, "the same handler is configured earlier"))
        else:
            first_index[spec.identity] = len(choices)
            choices.append(Selection(spec, True, "matches"))
    return tuple(choices)


def _strictest(first: HandlerSpec, copy: HandlerSpec) -> HandlerSpec:
    """Return a handler with the strictest options of it and its copy in another file.

    One file must not weaken a guard of another by repeating it with `async` or with a timeout that
    cannot be met.
    """
    default_s = default_timeout_s(first.event, first.handler.type)
    timeout_s = max(first.timeout_s or default_s, copy.timeout_s or default_s)
    return replace(
        first,
        handler=copy.handler if is_background(first.handler) else first.handler,
        timeout_s=None if timeout_s == default_s else timeout_s,
        runs_once=first.runs_once and copy.runs_once,
        blocks_on_failure=first.blocks_on_failure or copy.blocks_on_failure,
    )


def matcher_value(event: str, payload: Mapping[str, object]) -> str | None:
    """Return what a matcher is tested against; None: the event ignores matchers."""
    field = EFFECTS[event].matcher_field
    if field is None:
        return None
    value = str(payload.get(field) or "")
    return Path(value).name if event == "FileChanged" else value


def _condition_holds(condition: str, payload: Mapping[str, object], session: HookSession) -> bool:
    tool_input = payload.get("tool_input")
    cwd = payload.get("cwd")
    return applies(
        condition,
        str(payload.get("tool_name", "")),
        tool_input if isinstance(tool_input, Mapping) else {},
        cwd=Path(cwd) if isinstance(cwd, str) and cwd else session.cwd,
        project_root=session.project_dir,
        home=session.home,
    )
