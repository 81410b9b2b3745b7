"""Puts this library under the module names of the Agents SDK, for tests that import those.

A name that the library does not have becomes a class that raises when it is used, so that a file
loads and only the tests that need the name fail. The scripted model of the SDK's own tests is
loaded from its sources: the referee brings its own ball.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from agent.library import api
from agent.library.base import run_exceptions
from agent.library.rounds import guard_runs
from agent.library.state.run_scope import RunScope

INTERNAL = {
    "agents.exceptions": "agent.library.base.run_exceptions",
    "agents.handoffs.history": "agent.library.agents.handoff_history",
    "agents.run_error_handlers": "agent.library.state.run_config",
    "agents.run_config": "agent.library.state.run_config",
    "agents.strict_schema": "agent.library.base.strict_schema",
    "agents.usage": "agent.library.base.run_usage",
    "agents.agent_output": "agent.library.agents.agent_output",
    "agents.function_schema": "agent.library.tools.argument_schema",
    "agents.tool": "agent.library.tools.function_tool",
    "agents.tracing": "agent.library.tracing.run_spans",
    "agents.items": "agent.library.items.run_items",
}
"""Where the names of a module are looked for before the library's public ones."""
FROM_SOURCES = {"agents.testing": "testing/__init__.py", "agents.testing.model": "testing/model.py"}


class Missing:
    """Base of the classes that stand for what the library does not have."""

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        raise NotImplementedError(f"{type(self).__name__} is no part of this library")

    def __class_getitem__(cls, _parameters: object) -> type[Missing]:
        return cls


class AliasModule(ModuleType):
    """A module of the SDK, with the names of this library."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_replaced = self.__name__ == "agents.exceptions" and hasattr(run_exceptions, name)
        if is_replaced and not name.startswith("__"):
            setattr(run_exceptions, name, value)
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if (self.__name__, name) == ("agents", "exceptions"):
            return importlib.import_module("agents.exceptions")
        if name == "__all__":
            return api.__all__
        if name.startswith("__"):
            raise AttributeError(name)
        source = INTERNAL.get(self.__name__)
        if source is not None:
            found = getattr(importlib.import_module(source), name, None)
            if found is not None and getattr(found, "__name__", name) == name:
                return found
        if name in api.__all__:
            return getattr(api, name)
        helper = getattr(HELPERS, name, None)
        return helper if helper is not None else type(name, (Missing,), {})


def _scope(agent: Any, input: Any, context: Any) -> RunScope:
    state = api.RunState(context, input, agent)
    config = api.RunConfig(tracing_disabled=True)
    unused: Any = Missing
    return RunScope(state, config, api.RunHooks(), find_model=unused, find_gate=unused)


class _Helpers:
    """What the SDK's scripted model takes from internal modules."""

    REDACTED_TRACE_ERROR_MESSAGE = "Error"

    tool = staticmethod(api.function_tool)

    @staticmethod
    async def run_input_guardrails(
        agent: Any, guardrails: Any, input: Any, context: Any, results: Any = None
    ) -> Any:
        scope = _scope(agent, input, context)
        found = scope.state.input_guardrail_results
        try:
            await guard_runs.run_input_guardrails(scope, agent, guardrails, input)
        finally:
            if results is not None:
                results.extend(found)
        return found

    @staticmethod
    async def run_output_guardrails(
        guardrails: Any, agent: Any, output: Any, context: Any, results: Any = None
    ) -> Any:
        scope = _scope(agent, "", context)
        agent.output_guardrails = guardrails
        found = scope.state.output_guardrail_results
        try:
            await guard_runs.run_output_guardrails(scope, agent, output)
        finally:
            if results is not None:
                results.extend(found)
        return found

    @staticmethod
    def get_function_tool_lookup_key(name: str, namespace: str | None = None) -> Any:
        return (name, namespace)

    @staticmethod
    def tool_invocation_call_id(item: Any) -> str | None:
        return getattr(item, "call_id", None)

    @staticmethod
    def _raw_usage_snapshot(usage: Any) -> Any:
        return usage

    @staticmethod
    def _attach_raw_usage_snapshot(target: Any, _usage: Any) -> None:
        return

    @staticmethod
    def _attach_normalized_usage(target: Any, _usage: Any) -> None:
        return

    @staticmethod
    def record_current_task_model_timeout_on_span(*_args: Any, **_kwargs: Any) -> None:
        return

    class Scope:
        """Which span is the current one."""

        @staticmethod
        def set_current_span(span: Any) -> Any:
            from agent.library.tracing import run_spans

            return run_spans._current_span.set(span)

        @staticmethod
        def reset_current_span(token: Any) -> None:
            from agent.library.tracing import run_spans

            run_spans._current_span.reset(token)

    class ModelRetryAdvice:
        """Never asked for here."""

    class ModelRetryAdviceRequest:
        """Never made here."""


HELPERS = _Helpers()


class AliasFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module below `agents`."""

    def __init__(self, sources: Path) -> None:
        """`sources` is `src/agents` of the source distribution."""
        self._sources = sources

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "agents" and not fullname.startswith("agents."):
            return None
        own = FROM_SOURCES.get(fullname)
        if own is not None:
            return importlib.util.spec_from_file_location(
                fullname,
                self._sources / own,
                submodule_search_locations=[] if own.endswith("__init__.py") else None,
            )
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return AliasModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return


PRIVATE_FIELDS = {
    "_session_items": "session_items",
    "_generated_items": "generated_items",
    "_input_guardrail_results": "input_guardrail_results",
    "_output_guardrail_results": "output_guardrail_results",
    "_tool_input_guardrail_results": "tool_input_guardrail_results",
    "_tool_output_guardrail_results": "tool_output_guardrail_results",
    "_model_responses": "model_responses",
    "_current_turn": "current_turn",
    "_current_agent": "current_agent",
    "_context": "context",
    "_original_input": "original_input",
    "_max_turns": "max_turns",
}
"""What tests read of a state by its private name there, and its name here."""


@contextmanager
def _locked_connection(session: Any) -> Iterator[Any]:
    with session._lock:
        yield session._connection


def install(sources: Path) -> None:
    """Have `import agents` find this library from now on."""
    for private, name in PRIVATE_FIELDS.items():
        setattr(api.RunState, private, property(attrgetter(name)))
    items: Any = property(attrgetter("_state.generated_items"))
    results: tuple[Any, ...] = (api.RunResult, api.RunResultStreaming)
    for kind in results:
        kind._model_input_items = items
    made = api.ToolApprovalItem.__init__

    def make(item: Any, *args: Any, **kwargs: Any) -> None:
        for private in ("tool_lookup_key", "_allow_bare_name_alias"):
            kwargs.pop(private, None)
        made(item, *args, **kwargs)

    setattr(api.ToolApprovalItem, "__init__", make)  # noqa: B010 - the type checker objects
    api.SQLiteSession._locked_connection = _locked_connection  # type: ignore[attr-defined]
    sys.meta_path.insert(0, AliasFinder(sources))
