"""What an event can let a hook do: the columns of the table of events."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct


class ExitTwo(StrEnum):
    """What exit status 2 of a command means for an event."""

    DENY = "deny"
    """The call, switch or question is denied."""
    BLOCK = "block"
    """What the event announces does not happen; for stops: the agent continues."""
    FEEDBACK = "feedback"
    """Too late to prevent anything: the text is added to the result."""
    NOTICE = "notice"
    """Nothing is blocked; the user reads the text."""
    IGNORED = "ignored"


class Audience(StrEnum):
    """Who reads the reason of a block."""

    MODEL = "model"
    USER = "user"
    NOBODY = "none"


class PlainStdout(StrEnum):
    """What standard output that is not JSON means."""

    IGNORED = "ignored"
    CONTEXT = "context"
    PATH = "path"
    """The last non-empty line is a path (worktrees)."""


class ModelRefusal(StrEnum):
    """What `ok: false` of a prompt or agent hook means for an event."""

    BLOCKS = "blocks"
    IGNORED = "ignored"
    CONTINUES = "continues"
    """The agent continues, unless the model answers that the condition is impossible to meet."""
    ENDS_TURN = "ends_turn"
    """It blocks, and the turn ends."""
    ENDS_TURN_UNLESS_CONTINUED = "ends_turn_unless_continued"
    """The same; with `continueOnBlock` the turn continues."""
    STOPS_UNLESS_CONTINUED = "stops_unless_continued"
    """The turn ends without a block; with `continueOnBlock` it blocks."""


ALL_TYPES: Final = frozenset({"command", "http", "mcp_tool", "prompt", "agent", "callback"})
WITHOUT_MODELS: Final = frozenset({"command", "http", "mcp_tool", "callback"})
AT_START: Final = frozenset({"command", "mcp_tool", "callback"})


class Effects(Struct, frozen=True):
    """One event's row."""

    matcher_field: str | None
    """The payload field that a matcher is tested against; None: matchers are ignored."""
    types: frozenset[str]
    """Handler types that may serve it."""
    exit_two: ExitTwo
    feedback_to: Audience
    honors: frozenset[str] = frozenset()
    """Names in `hookSpecificOutput` that are honored."""
    decision_block: bool = False
    """Whether top-level `decision: "block"` applies."""
    plain_stdout: PlainStdout = PlainStdout.IGNORED
    honors_continue: bool = True
    honors_system_message: bool = True
    honors_terminal_sequence: bool = True
    reads_json: bool = True
    """False: the event has no use for any answer."""
    block_prevents: bool = True
    """Whether a block prevents what is announced (False after the fact)."""
    ends_turn_is_the_point: bool = False
    """Whether `continue: false` lets the announced end happen (stops) rather than preventing it."""
    any_failure_blocks: bool = False
    """Whether every non-zero exit status blocks (worktree creation)."""
    timeout_blocks: bool = False
    is_tool_event: bool = False
    """Whether `if` conditions apply."""
    strict_exact_matcher: bool = False
    """Whether only letters, digits, `_` and `|` make a matcher a list of names."""
    is_stop: bool = False
    """Whether it announces that an agent stops, which hooks may prevent a few times in a row."""
    declines_when_blocked: bool = False
    """Whether a block answers what was elicited with `decline`."""
    model_refusal: ModelRefusal = ModelRefusal.BLOCKS
    is_beside_turns: bool = False
    """Whether it belongs to no turn, so that an interrupt does not end its hooks."""
    is_frequent: bool = False
    """Whether it fires many times a second: a failure of each is reported once a turn."""
    assumed_fields: Mapping[str, object] = {}
    """Defaults for fields that a payload given as JSON may lack, so that matchers have a value."""
    env_file_replaces: tuple[str, ...] | None = None
    """Events whose exported variables it discards (those of another directory); None: its hooks
    cannot export variables."""
    timeout_s: float | None = None
    """Default for commands, requests and MCP tools where it is not the general one."""
