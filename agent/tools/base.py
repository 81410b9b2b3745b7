"""What a tool is: a typed function plus metadata, built fail-closed by `build_tool`.

Next: `agent.tools.registry` (which tools a conversation has), `agent.tools.lifecycle` (one call,
step by step), `agent.tools.dispatch` (many calls of one turn). Source: the pattern "tool-system".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from msgspec import Struct

from agent.abort import AbortSignal
from agent.display import Display
from agent.errors import AgentError
from agent.messages import Block
from agent.sandbox.refusals import Refusal
from agent.typed_json.read_record import Problem, read_record
from agent.typed_json.record_schema import record_schema
from permissions.base.text.late_pattern import compile_late
from permissions.confinement import Confinement

if TYPE_CHECKING:
    from agent.tools.services import ToolServices

InputT = TypeVar("InputT")

DEFAULT_MAX_RESULT_CHARS: Final = 30_000
_NAME: Final = compile_late(r"^[A-Za-z0-9_-]{1,128}$")


class Concurrency(StrEnum):
    """Whether a call may run beside its neighbors; decided from its input."""

    READ_ONLY = "read_only"
    INDEPENDENT = "independent"
    """Runs beside its neighbors and limits itself: agents have slots of their own."""
    WRITE_EXCLUSIVE = "write_exclusive"
    UNSAFE = "unsafe"


class InterruptBehavior(StrEnum):
    """What Esc does to a running call: end it, or let it finish first."""

    CANCEL = "cancel"
    BLOCK = "block"


class ToolError(AgentError):
    """A tool could not do what was asked; the text goes to the model as an error result."""

    def __init__(self, fact: str, advice: str = "") -> None:
        """`fact` is a sentence for users and the model, `advice` what the model may do now."""
        super().__init__(f"{fact} {advice}" if advice else fact)
        self.fact = fact


class InputError(ValueError):
    """The input of a call does not fit the schema of its tool."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """`problems` pairs the path of each value with what is expected there."""
        super().__init__(problems)
        self.problems = problems

    @property
    def places(self) -> Sequence[str]:
        """The paths, as names joined by dots."""
        return [".".join(map(str, path)) or "(input)" for path, _ in self.problems]


class ToolOutcome(Struct, frozen=True):
    """What one run produced."""

    content: str | tuple[Block, ...]
    """For the model: text, or text, image and document blocks."""
    is_error: bool = False
    display: Display | None = None
    """For the user; None shows the text."""
    tool_response: Mapping[str, object] | None = None
    """`tool_response` for hooks, in the shape that hooks expect from this tool."""
    refusals: tuple[Refusal, ...] = ()
    """What the sandbox refused and a user may allow."""
    ends_turn: bool = False
    """Whether the turn ends without another request, because the user stopped it."""


class ToolContext(Struct, frozen=True):
    """What one call may use. Tools read nothing global: everything comes in here."""

    tool_use_id: str
    turn_id: str
    agent_id: str | None
    abort: AbortSignal
    progress: Callable[[str], None]
    """Append live output for the user; never blocks, and sanitizes the text."""
    services: ToolServices
    """Shared state and ports of the conversation: cwd, file state, shells, the user,
    sub-agents."""
    confinement: Confinement = Confinement.READ_ONLY
    """The confinement that its decision assumed; it applies to programs that the call starts."""
    write_dirs: tuple[str, ...] = ()
    """Directories outside the working directories that the user opened for this call."""
    target: str = ""
    """During a run, the file that was decided about, links resolved; empty for other tools."""


class Tool(Struct, Generic[InputT], frozen=True, kw_only=True):
    """One tool. Make it with `build_tool`, which fills every unset flag with the strictest
    value."""

    name: str
    description: str
    """For the model: what it does, when to use it, when not."""
    input_schema: Mapping[str, Any]
    """JSON schema without `$ref`."""
    parse: Callable[[Mapping[str, object]], InputT]
    """Schema validation; raises InputError."""
    run: Callable[[InputT, ToolContext], Awaitable[ToolOutcome]]
    validate: Callable[[InputT, ToolContext], Awaitable[str | None]]
    """Semantic validation without side effects: the error for the model, or None."""
    concurrency: Callable[[InputT], Concurrency]
    is_read_only: Callable[[InputT], bool]
    is_destructive: Callable[[InputT], bool]
    requires_permission: bool
    requires_user_interaction: bool
    interrupt_behavior: InterruptBehavior
    should_defer: bool
    always_load: bool
    aliases: tuple[str, ...]
    strict: bool
    max_result_size_chars: int
    identifier: Callable[[InputT, Path], str]
    """The fixed line of the card; the path is the launch directory, for relative names."""
    preview: Callable[[InputT, ToolContext], Awaitable[Display | None]]
    """What the permission dialog shows: a diff for edits, nothing for most."""
    permission_input: Callable[[InputT, Mapping[str, object], ToolContext], Mapping[str, object]]
    """The input that rules and hooks see: file paths absolute, `~` expanded, nothing else
    changed."""

    def to_wire(self) -> dict[str, object]:
        """Return the tool as the Messages API takes it."""
        wire: dict[str, object] = {
            "name": self.name,
            "description": self.description,
            "input_schema": dict(self.input_schema),
        }
        if self.strict:
            wire["strict"] = True
        return wire


AnyTool: TypeAlias = Tool[Any]
"""A tool whose input type only the tool itself knows."""


async def _accept_input(_input: object, _context: ToolContext) -> str | None:
    return None


async def _no_preview(_input: object, _context: ToolContext) -> Display | None:
    return None


def build_tool(
    *,
    name: str,
    description: str,
    input_model: type[InputT],
    run: Callable[[InputT, ToolContext], Awaitable[ToolOutcome]],
    validate: Callable[[InputT, ToolContext], Awaitable[str | None]] = _accept_input,
    concurrency: Callable[[InputT], Concurrency] = lambda _: Concurrency.UNSAFE,
    is_read_only: Callable[[InputT], bool] = lambda _: False,
    is_destructive: Callable[[InputT], bool] = lambda _: True,
    requires_permission: bool = True,
    requires_user_interaction: bool = False,
    interrupt_behavior: InterruptBehavior = InterruptBehavior.BLOCK,
    should_defer: bool = False,
    always_load: bool = False,
    aliases: tuple[str, ...] = (),
    strict: bool = False,
    max_result_size_chars: int = DEFAULT_MAX_RESULT_CHARS,
    identifier: Callable[[InputT, Path], str] | None = None,
    preview: Callable[[InputT, ToolContext], Awaitable[Display | None]] = _no_preview,
    permission_input: (
        Callable[[InputT, Mapping[str, object], ToolContext], Mapping[str, object]] | None
    ) = None,
    input_schema: Mapping[str, Any] | None = None,
    ignored_names: frozenset[str] = frozenset(),
) -> Tool[InputT]:
    """Build a tool; flags that are not given have the strictest value (pattern "Fail-Closed
    Defaults").

    `input_model` is a record, a pydantic model, or `dict` for any input (then `input_schema` is
    needed). `ignored_names` are parameters of other products, which are dropped.

    Raises:
        ValueError: the name is not one the API accepts.
    """
    if not _NAME.match(name):
        raise ValueError(f"tool name {name!r} must match {_NAME.pattern}")
    schema = input_schema if input_schema is not None else schema_of(input_model)
    return Tool(
        name=name,
        description=description,
        input_schema=schema,
        parse=_parser(input_model, ignored_names),
        run=run,
        validate=validate,
        concurrency=concurrency,
        is_read_only=is_read_only,
        is_destructive=is_destructive,
        requires_permission=requires_permission,
        requires_user_interaction=requires_user_interaction,
        interrupt_behavior=interrupt_behavior,
        should_defer=should_defer,
        always_load=always_load,
        aliases=aliases,
        strict=strict,
        max_result_size_chars=max_result_size_chars,
        identifier=identifier or (lambda _input, _root: name),
        preview=preview,
        permission_input=permission_input or (lambda _input, raw, _context: raw),
    )


def _parser(model: Any, ignored_names: frozenset[str]) -> Callable[[Mapping[str, object]], Any]:
    def read(raw: Mapping[str, object]) -> object:
        if ignored_names:
            raw = {name: value for name, value in raw.items() if name not in ignored_names}
        record, problems = read_record(model, raw, is_lax=True)
        if problems:
            raise InputError(problems)
        return record

    def validate(raw: Mapping[str, object]) -> object:
        try:
            return model.model_validate(raw)
        except ValueError as error:
            details = error.errors(include_url=False)  # type: ignore[attr-defined]  # pydantic's
            raise InputError([(one["loc"], one["msg"]) for one in details]) from error

    if model is dict:
        return dict
    return read if issubclass(model, Struct) else validate


def schema_of(model: Any) -> dict[str, Any]:
    """Return the schema of a tool's input."""
    return record_schema(model) if issubclass(model, Struct) else _without_references(model)


def _without_references(model: Any) -> dict[str, Any]:
    """Return a pydantic model's schema with every `$ref` resolved and titles removed."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})

    def resolve(node: object, *, names_fields: bool = False) -> object:
        if isinstance(node, list):
            return [resolve(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node and not names_fields:
            target = definitions[str(node["$ref"]).rsplit("/", 1)[-1]]
            rest = {k: v for k, v in node.items() if k != "$ref"}
            return resolve({**target, **rest})
        return {
            key: resolve(value, names_fields=key == "properties" and not names_fields)
            for key, value in node.items()
            if names_fields or key != "title"
        }

    whole = resolve(schema)
    assert isinstance(whole, dict)
    return whole
