"""What a start comes to: the conversation, and what an entry point shows about it."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from agent.commands.service import CommandCenter
from agent.conversation.conversation import Conversation
from agent.loop.loop_ports import LoopPorts
from agent.memory.extractor import FactExtractor
from agent.permission_config.context import Grants
from agent.session.checkpoints.checkpoint import Checkpoints
from agent.session.resume import ResumedConversation
from agent.settings.load import Settings
from hooks.runner import HookRunner
from permissions.base.lazy_dataclass import lazy_dataclass


@lazy_dataclass(slots=True, kw_only=True)
class Assembled:
    """A conversation, and what the entry point shows about how it came to be."""

    conversation: Conversation
    settings: Settings
    notices: tuple[str, ...] = ()
    resumed: ResumedConversation | None = None
    temporary_home: Path | None = None
    """Where the session is, if the agent's own home takes no files."""
    hook_runner: HookRunner = field(repr=False)
    grants: Grants = field(repr=False)
    checkpoints: Checkpoints = field(repr=False)
    commands: CommandCenter = field(repr=False)
    ports: LoopPorts = field(repr=False)
    """What the conversation's agent works with."""
    facts: FactExtractor = field(repr=False)
