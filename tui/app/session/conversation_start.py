"""The start after the first frame: makes the conversation, reads and watches files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from permissions.base.process.worker_threads import import_aside
from tui.app.appearance import Appearance
from tui.app.key_table import KeyTable
from tui.app.notices import Notices
from tui.app.session.conversation_holder import ConversationHolder
from tui.dialogs.host import DialogHost
from tui.ports.conversation import ScreenPorts
from tui.prompt.edit_externally import Editing
from tui.prompt.prompt_log import TypedPromptLog
from tui.status_line.user_status_command import UserStatusCommand
from tui.terminal.title import TerminalTitle
from tui.text.highlight import Highlighter
from tui.text.safe_text import shown_line
from tui.transcript.diff.split_rows import set_split
from tui.transcript.transcript_widget import TranscriptWidget
from tui.transcript.welcome import RECENT_SESSIONS, RecentSession, tip_for

if TYPE_CHECKING:
    from agent.commands.command_context import CommandContext
    from permissions.decision import Decision
    from permissions.request import PermissionRequest
    from tui.dialogs.permission_ask import GrantOffer

SuggestGrants = Callable[["PermissionRequest", "Decision"], "Sequence[GrantOffer]"]
JudgeCall = Callable[["PermissionRequest"], "Decision | None"]


class StartParts(Struct, frozen=True, eq=False, kw_only=True):
    """The dependencies of `ConversationStart`."""

    conversations: ConversationHolder
    dialogs: DialogHost
    highlighter: Highlighter
    suggest_grants: SuggestGrants
    judge_call: JudgeCall
    editing: Editing
    transcript: TranscriptWidget
    typed_prompts: TypedPromptLog
    user_status: UserStatusCommand
    window: TerminalTitle
    appearance: Appearance
    keys: KeyTable
    notices: Notices
    home: Path
    agent_home: Path | None
    initial_prompt: str
    submit: Callable[[str], None]
    show: Callable[[], None]
    """Shows the document."""
    show_recent: Callable[[Sequence[RecentSession], str], None]
    """Adds the latest conversations and a tip to the start screen."""
    show_lines: Callable[[], None]
    commands_changed: Callable[[], None]
    """Called when the conversation's command files were read and have changed."""
    start_worker: Callable[[Awaitable[None]], None]
    is_live: Callable[[], bool]


class ConversationStart:
    """Makes the first conversation, and loads what belongs to each later one."""

    def __init__(self, parts: StartParts) -> None:
        """Store the dependencies; nothing happens before `begin`."""
        self._parts = parts

    async def begin(self) -> None:
        """Make the first conversation; to be called after the first frame."""
        parts = self._parts
        # In a thread: the import takes longer than a frame, and keys must still be echoed.
        await import_aside("tui.dialogs.ports")
        await parts.conversations.begin(self._ports())
        if parts.initial_prompt and parts.conversations.current is not None:
            parts.submit(parts.initial_prompt)
        if parts.agent_home is not None and parts.is_live():
            self._watch_files(parts.agent_home)

    def _ports(self) -> ScreenPorts:
        # Already loaded here, but not imported before the first frame.
        from permissions.explain.explain_decision import home_relative
        from tui.dialogs.ports import DialogContender, DialogUser, show
        from tui.dialogs.sandbox.work_inside import WorkInside

        parts = self._parts
        edit_text = parts.editing.text if parts.editing.has_editor else None
        contender = DialogContender(
            parts.dialogs,
            parts.highlighter,
            parts.suggest_grants,
            self._preview,
            edit_text,
            parts.judge_call,
            home_relative(str(parts.home)),
            WorkInside(lambda: parts.conversations.commands),
        )
        user = DialogUser(
            parts.dialogs, parts.highlighter, edit_text, lambda: parts.conversations.commands
        )
        return ScreenPorts(contender, user, user.trust, user.onboard, partial(show, parts.dialogs))

    def _watch_files(self, agent_home: Path) -> None:
        from tui.app.keybindings_watch import follow_keys  # after the first frame

        parts, appearance = self._parts, self._parts.appearance
        parts.start_worker(
            follow_keys(
                agent_home,
                parts.keys.keymap,
                parts.keys.use,
                parts.notices.notice,
                home=parts.home,
            )
        )
        if appearance.themes_dir:
            from tui.theme.theme_files import follow_themes  # after the first frame

            parts.start_worker(
                follow_themes(
                    agent_home,
                    appearance.themes_dir,
                    reload=appearance.themes.reload,
                    choose=appearance.themes.choose,
                )
            )

    def on_conversation(self) -> None:
        """React to another conversation, or to none."""
        self._parts.show()
        if self._parts.conversations.current is not None:
            self._parts.user_status.counts.start_over()
            self._parts.start_worker(self._load_deferred())

    async def _load_deferred(self) -> None:
        """Load what can wait until a conversation is shown: history, command files, status line."""
        parts = self._parts
        command_service = parts.conversations.commands
        if command_service is None or parts.agent_home is None:
            return
        from agent.tools.shell.shells import end_line  # loaded with the conversation

        context = command_service.context
        values = context.settings().values
        # Until the endpoint reports the model's window, the figures are those of a table.
        context.follow_model(parts.show_lines)
        parts.show_lines()
        context.shells.on_change = parts.show_lines
        context.shells.on_end = lambda shell: parts.notices.notice(end_line(shell))
        context.agents.on_change = parts.show_lines
        if (team := context.team()) is not None:
            team.follow(parts.show_lines)
        parts.window.set_progress_enabled(values.terminalProgressBarEnabled)
        if values.syntaxHighlightingDisabled:
            parts.appearance.color_code(False)
        if values.readingWidth is not None or values.pinPrompt:
            parts.transcript.set_reading(
                values.readingWidth or 0, pins_prompt=bool(values.pinPrompt)
            )
        if set_split(values.sideBySideDiff is not False):
            parts.transcript.code_changed()
        if (detail := values.toolDetail) is not None:
            parts.transcript.set_levels(detail)
        await parts.typed_prompts.open(
            parts.agent_home, context.settings().project_root, context.session.session_id
        )
        command_service.custom.listeners.append(parts.commands_changed)
        command_service.custom.watch()
        if not context.session.is_demo:
            await self._show_recent(context)
        from tui.app.claude_settings_notice import notes_of_start  # after the first frame

        warnings, notices = await notes_of_start(command_service)
        for text in warnings:
            parts.notices.warn(text)
        for text in notices:
            parts.notices.notice(text)
        parts.user_status.plan()

    async def _show_recent(self, context: CommandContext) -> None:
        from agent.session.archive.recent_sessions import recent_sessions  # after the first frame
        from agent.session.store import SessionStore
        from tui.text.time_ago import time_ago

        store = SessionStore(context.agent_home, version=context.version)
        root = context.settings().project_root
        sessions = await asyncio.to_thread(
            recent_sessions, store, root, context.session.session_id, RECENT_SESSIONS
        )
        recent = [RecentSession(shown_line(one.title), time_ago(one.modified)) for one in sessions]
        self._parts.show_recent(recent, tip_for(sum(one.size_bytes for one in sessions)))

    def _preview(self, tool_use_id: str) -> Any:
        conversation = self._parts.conversations.current
        return conversation.view.preview_of(tool_use_id) if conversation is not None else None
