"""What a start comes to: the conversation, and what an entry point shows about it."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from agent.commands.service import CommandCenter
from agent.conversation.conversation import Conversation
from agent.loop.loop_ports import LoopPorts
from agent.memory.extractor import FactExtractor
from agent.permission_config.context import Grants
from agent.session.checkpoints.checkpoint import Checkpoints
from agent.session.resume import ResumedConversation
from agent.settings.load import Settings
from hooks.runner import HookRunner


class Assembled(Struct, kw_only=True):
    """A conversation, and what the entry point shows about how it came to be."""

    conversation: Conversation
    settings: Settings
    notices: tuple[str, ...] = ()
    resumed: ResumedConversation | None = None
    temporary_home: Path | None = None
    """Where the session is, if the agent's own home takes no files."""
    hook_runner: HookRunner
    grants: Grants
    checkpoints: Checkpoints
    commands: CommandCenter
    ports: LoopPorts
    """What the conversation's agent works with."""
    facts: FactExtractor
