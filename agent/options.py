"""What the command line asked for, as one frozen value; reads neither files nor variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field

OutputFormat = Literal["text", "json", "stream-json"]
InputFormat = Literal["text", "stream-json"]
SetupTrigger = Literal["init", "maintenance"]


SANDBOX_MODES: Final = ("read-only", "workspace-write", "off", "danger-full-access")


class RunOptions(Struct, frozen=True, kw_only=True):
    """One start of the program."""

    prompt: str | None = None
    headless: bool = False
    continue_latest: bool = False
    resume: str | None = None
    """A session id, or an empty string to pick from a list."""
    fork_session: bool = False
    session_id: str | None = None
    """The id for the new session: a UUID."""
    name: str | None = None
    """The name of the session."""
    stores_session: bool = True
    """Whether the session's files stay when the run ends."""
    model: str | None = None
    fallback_models: tuple[str, ...] = ()
    """Models that take over, in this order, while the model is overloaded."""
    advisor: str | None = None
    """The model that the working one may consult; `off` for none."""
    effort: str | None = None
    wants_thinking: bool | None = None
    """Whether the model thinks, if it can be chosen; None uses the settings."""
    permission_mode: str | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    """Tools to remove, and deny rules."""
    tools: tuple[str, ...] | None = None
    """The tools that requests list for the model: `default` means all; None means all, or few if
    its window is small."""
    skills: tuple[str, ...] | None = None
    """The skills that are listed for the model; None means all."""
    add_dirs: tuple[Path, ...] = ()
    setting_sources: tuple[str, ...] | None = None
    """Of `user`, `project` and `local`, those whose settings apply; None means all."""
    settings_file: str | None = None
    """A file, or settings as JSON text; not a `Path`, which would change `//` in the text."""
    plugin_dirs: tuple[Path, ...] = ()
    """Directories of plugins: commands, skills, hooks, agents and servers are used in this run."""
    plugins_without_servers: tuple[Path, ...] = ()
    """Those of `plugin_dirs` whose servers are not used."""
    agents: Mapping[str, object] = field(default_factory=dict)
    """Definitions of agents by name, as in `--agents`."""
    agent: str | None = None
    """The agent that leads the session; None uses the settings."""
    mcp_configs: tuple[str, ...] = ()
    """Files, or servers as JSON text."""
    strict_mcp_config: bool = False
    """Use only the servers of `mcp_configs`."""
    max_turns: int | None = None
    max_budget_usd: float | None = None
    output_format: OutputFormat = "text"
    input_format: InputFormat = "text"
    include_partial_messages: bool = False
    forwards_agent_text: bool = False
    """Whether a stream-json run contains texts of agents, not only their calls and results."""
    shows_hooks: bool = False
    """Whether a stream-json run contains lines about hooks."""
    replays_prompts: bool = False
    """Whether prompts of a stream-json run are repeated in its output."""
    asks_over_stdout: bool = False
    """Whether the program at the other end of a stream-json run is asked for permission."""
    permission_tool: str | None = None
    """The tool of an MCP server that is asked instead: `mcp__server__tool`."""
    json_schema: str | None = None
    """JSON schema, as text, that the answer of a run without a screen must follow."""
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    allow_bypass: bool = False
    sandbox: str | None = None
    """`read-only`, `workspace-write`, `off` or `danger-full-access`; None uses settings."""
    trust: bool = False
    is_inline: bool = False
    """Whether the conversation goes to the terminal's scrollback; otherwise settings decide."""
    demo: bool = False
    debug: bool = False
    debug_file: Path | None = None
    """Path of the debug log; None uses the default path."""
    after_clear: bool = False
    """Whether this conversation replaces one that `/clear` ended."""
    setup: SetupTrigger | None = None
    """Run Setup hooks first."""
    setup_only: bool = False
    """Exit once the start-up hooks have run."""
    orchestrate: bool = False
    """Whether orchestration mode is on from the start; headless, this also allows its workflows."""
    worktree: str | None = None
    """The name of the git worktree that this session works in; empty creates a new one."""
    team: str | None = None
    """The team that this session leads."""
    teammate_mode: str | None = None
    """Where its workers run: `auto`, `in-process`, `process` or `panes`; None uses settings."""
    session_home: Path | None = None
    """Where the session is stored; None uses the agent's own home."""
    screen_reader: bool = False
    """Print labeled lines instead of drawing a screen."""
