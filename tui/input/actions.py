"""The table of actions: ids, descriptions, contexts and default keys.

Help, footer, keybindings file and dispatch all read it. Ids, contexts and defaults are Claude
Code's, so that its keybindings files work here; the few actions of our own are marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct


class Context(StrEnum):
    """Where a binding applies; the innermost active context is asked first, Global last."""

    GLOBAL = "Global"
    CHAT = "Chat"
    AUTOCOMPLETE = "Autocomplete"
    SETTINGS = "Settings"
    CONFIRMATION = "Confirmation"
    TABS = "Tabs"
    HELP = "Help"
    TRANSCRIPT = "Transcript"
    HISTORY_SEARCH = "HistorySearch"
    TASK = "Task"
    THEME_PICKER = "ThemePicker"
    ATTACHMENTS = "Attachments"
    FOOTER = "Footer"
    MESSAGE_SELECTOR = "MessageSelector"
    DIFF_DIALOG = "DiffDialog"
    MODEL_PICKER = "ModelPicker"
    SELECT = "Select"
    PLUGIN = "Plugin"
    SCROLL = "Scroll"


class Action(Struct, frozen=True):
    """Something a key can do."""

    id: str
    """"namespace:name", as in a keybindings file."""
    description: str
    """For help and footer: an imperative phrase without a full stop."""
    context: Context
    keys: tuple[str, ...] = ()
    """Default bindings as users spell them; empty means unbound."""
    is_ours: bool = False
    """Whether Claude Code has no such action."""


def _actions(context: Context, *rows: tuple[str, str, str]) -> tuple[Action, ...]:
    """Build the actions of a context from rows of id, description and keys separated by ", "."""
    return tuple(
        Action(
            id=action_id.removesuffix("*"),
            description=description,
            context=context,
            keys=tuple(keys.split(", ")) if keys else (),
            is_ours=action_id.endswith("*"),
        )
        for action_id, description, keys in rows
    )


ACTIONS: Final[tuple[Action, ...]] = (
    *_actions(
        Context.GLOBAL,
        ("app:interrupt", "Interrupt (twice: quit)", "ctrl+c"),
        ("app:exit", "Quit when the prompt is empty", "ctrl+d"),
        ("app:redraw", "Redraw the screen", ""),
        ("app:toggleTodos", "Show or hide the task list", "ctrl+t"),
        ("app:toggleTranscript", "Read and search the transcript", "ctrl+o"),
        ("app:suspend*", "Suspend to the shell", "ctrl+z"),
        ("app:commandPalette*", "Open the command palette", "ctrl+p"),
        ("history:search", "Search the prompt history", "ctrl+r"),
    ),
    *_actions(
        Context.CHAT,
        ("chat:submit", "Send the prompt", "enter"),
        ("chat:newline", "Insert a line break", "ctrl+j, shift+enter, alt+enter"),
        ("chat:cancel", "Interrupt the turn", "escape"),
        ("chat:rewind*", "Clear the draft, or rewind", "escape escape"),
        ("chat:clearInput", "Redraw the screen", "ctrl+l"),
        ("chat:clearScreen", "Clear the screen", "cmd+k"),
        ("chat:killAgents", "Stop background commands (press twice)", "ctrl+x ctrl+k"),
        ("chat:cycleMode", "Cycle the permission mode", "shift+tab"),
        ("chat:modelPicker", "Choose the model", "meta+p"),
        ("chat:fastMode", "Toggle fast mode", "meta+o"),
        ("chat:thinkingToggle", "Toggle thinking", "meta+t"),
        ("chat:undo", "Undo the last edit", "ctrl+_, ctrl+shift+-"),
        ("chat:redo*", "Redo", "ctrl+shift+z, alt+_"),
        ("chat:expandPastes*", "Show pasted texts in full", "ctrl+x ctrl+v"),
        ("chat:externalEditor", "Edit the prompt in $EDITOR", "ctrl+g, ctrl+x ctrl+e"),
        ("chat:undoFiles*", "Undo the last file changes (while offered)", "ctrl+x u"),
        ("chat:stash", "Stash or restore the prompt", "ctrl+s"),
        ("chat:imagePaste", "Paste an image", "ctrl+v, alt+v"),
        ("chat:copyAnswer*", "Copy the last answer", "ctrl+x y"),
        ("chat:copyCode*", "Copy the last code block", "ctrl+x c"),
        ("chat:help*", "Show the keys (on an empty prompt)", "?"),
        ("history:previous", "Previous prompt, or edit queued messages", "up"),
        ("history:next", "Next prompt", "down"),
        ("voice:pushToTalk", "Dictate", ""),
    ),
    *_actions(
        Context.AUTOCOMPLETE,
        ("autocomplete:accept", "Accept the suggestion", "tab"),
        ("autocomplete:dismiss", "Close the suggestions", "escape"),
        ("autocomplete:previous", "Previous suggestion", "up"),
        ("autocomplete:next", "Next suggestion", "down"),
    ),
    *_actions(
        Context.CONFIRMATION,
        ("confirm:yes", "Yes", "y, enter"),
        ("confirm:no", "No", "n, escape"),
        ("confirm:previous", "Previous answer", "up"),
        ("confirm:next", "Next answer", "down"),
        ("confirm:nextField", "Next field; comment on an answer", "tab"),
        ("confirm:previousField", "Previous field", ""),
        ("confirm:toggle", "Select or deselect", "space"),
        ("confirm:cycleMode", "Yes, and allow all edits in this session", "shift+tab"),
        ("confirm:toggleExplanation", "Show how the decision was made", "ctrl+e"),
        ("confirm:chooseParts*", "Choose parts of a change", "h"),
        ("confirm:editHere*", "Edit the call in the dialog", "e"),
        ("confirm:edit*", "Edit the call in $EDITOR", "ctrl+g"),
        ("permission:toggleDebug", "Show how the decision was made", "ctrl+y"),
    ),
    *_actions(
        Context.TRANSCRIPT,
        ("transcript:toggleShowAll", "Show everything", "ctrl+e"),
        ("transcript:exit", "Back to the prompt", "q, ctrl+c, escape"),
        ("transcript:search*", "Search", "/"),
        ("transcript:searchNext*", "Next hit, an older one", "n"),
        ("transcript:searchPrevious*", "Previous hit, a newer one", "N"),
        ("transcript:previousPrompt*", "Previous prompt", "{"),
        ("transcript:nextPrompt*", "Next prompt", "}"),
        ("transcript:dump*", "Write it to the terminal's scrollback", "["),
        ("transcript:editor*", "Open it in $EDITOR", "v"),
        ("transcript:toolDetail*", "Choose the detail per tool", "d"),
        ("transcript:lineUp*", "One line up", "k, up"),
        ("transcript:lineDown*", "One line down", "j, down"),
        ("transcript:pageUp*", "One page up", "b, ctrl+b"),
        ("transcript:pageDown*", "One page down", "space, ctrl+f"),
        ("transcript:top*", "To the start", "g, home"),
        ("transcript:bottom*", "To the end", "G, end"),
    ),
    *_actions(
        Context.HISTORY_SEARCH,
        ("historySearch:next", "Next hit", "ctrl+r"),
        ("historySearch:accept", "Copy it to the prompt", "escape, tab"),
        ("historySearch:cancel", "Close the search", "ctrl+c"),
        ("historySearch:execute", "Send it", "enter"),
        ("historySearch:cycleScope", "Session, project or everywhere", "ctrl+s"),
    ),
    *_actions(
        Context.TASK,
        ("task:background", "Send the running tool to the background", "ctrl+b, ctrl+x ctrl+b"),
    ),
    *_actions(
        Context.THEME_PICKER,
        ("theme:toggleSyntaxHighlighting", "Toggle syntax colors", "ctrl+t"),
    ),
    *_actions(Context.HELP, ("help:dismiss", "Close the help", "escape")),
    *_actions(
        Context.TABS,
        ("tabs:next", "Next tab", "tab, right"),
        ("tabs:previous", "Previous tab", "shift+tab, left"),
    ),
    *_actions(
        Context.ATTACHMENTS,
        ("attachments:next", "Next attachment", "right"),
        ("attachments:previous", "Previous attachment", "left"),
        ("attachments:remove", "Remove the attachment", "backspace, delete"),
        ("attachments:exit", "Back to the prompt", "down, escape"),
    ),
    *_actions(
        Context.FOOTER,
        ("footer:next", "Next item", "right"),
        ("footer:previous", "Previous item", "left"),
        ("footer:up", "Up", "up"),
        ("footer:down", "Down", "down"),
        ("footer:openSelected", "Open", "enter"),
        ("footer:clearSelection", "Back to the prompt", "escape"),
        ("footer:dismiss", "Hide the item", ""),
    ),
    *_actions(
        Context.MESSAGE_SELECTOR,
        ("messageSelector:up", "Previous message", "up, k, ctrl+p"),
        ("messageSelector:down", "Next message", "down, j, ctrl+n"),
        ("messageSelector:top", "First message", "ctrl+up, shift+up, meta+up, shift+k"),
        ("messageSelector:bottom", "Last message", "ctrl+down, shift+down, meta+down, shift+j"),
        ("messageSelector:select", "Choose the message", "enter"),
    ),
    *_actions(
        Context.DIFF_DIALOG,
        ("diff:dismiss", "Close the diff", "escape"),
        ("diff:previousSource", "Previous source", "left"),
        ("diff:nextSource", "Next source", "right"),
        ("diff:previousFile", "Previous file", "up"),
        ("diff:nextFile", "Next file", "down"),
        ("diff:viewDetails", "Open the file", "enter"),
        ("diff:back", "Back", ""),
    ),
    *_actions(
        Context.MODEL_PICKER,
        ("modelPicker:decreaseEffort", "Less effort", "left"),
        ("modelPicker:increaseEffort", "More effort", "right"),
        ("modelPicker:thisSessionOnly", "For this session only", "s"),
    ),
    *_actions(
        Context.SELECT,
        ("select:next", "Next", "down, j, ctrl+n"),
        ("select:previous", "Previous", "up, k, ctrl+p"),
        ("select:accept", "Choose", "enter"),
        ("select:cancel", "Cancel", "escape"),
    ),
    *_actions(
        Context.PLUGIN,
        ("plugin:toggle", "Turn on or off", "space"),
        ("plugin:install", "Install", "i"),
        ("plugin:favorite", "Mark", "f"),
    ),
    *_actions(
        Context.SETTINGS,
        ("settings:search", "Search the settings", "/"),
        ("settings:retry", "Try again", "r"),
    ),
    *_actions(
        Context.SCROLL,
        ("scroll:lineUp", "One line up", ""),
        ("scroll:lineDown", "One line down", ""),
        ("scroll:pageUp", "One page up", "pageup"),
        ("scroll:pageDown", "One page down", "pagedown"),
        ("scroll:top", "To the start", "ctrl+home"),
        ("scroll:bottom", "To the end", "ctrl+end"),
        ("scroll:halfPageUp", "Half a page up", ""),
        ("scroll:halfPageDown", "Half a page down", ""),
        ("scroll:fullPageUp", "A full page up", ""),
        ("scroll:fullPageDown", "A full page down", ""),
        ("selection:copy", "Copy the selection", "ctrl+shift+c, cmd+c"),
        ("selection:clear", "Clear the selection", ""),
        ("selection:extendLeft", "Extend the selection left", "shift+left"),
        ("selection:extendRight", "Extend the selection right", "shift+right"),
        ("selection:extendUp", "Extend the selection up", "shift+up"),
        ("selection:extendDown", "Extend the selection down", "shift+down"),
        (
            "selection:extendLineStart",
            "Extend the selection to the start of the line",
            "shift+home",
        ),
        ("selection:extendLineEnd", "Extend the selection to the end of the line", "shift+end"),
    ),
)

_VOICE: Final = "dictation is not available"
_PLUGINS: Final = "plugins are not available"
_CHIPS: Final = "images are labels in the prompt; use the arrow keys and Backspace"
_FOOTER: Final = "the status line has no items; see /tasks and ctrl+t"
ABSENT: Final[Mapping[str, str]] = {
    "chat:fastMode": "there is no fast mode; use /model and /effort",
    "voice:pushToTalk": _VOICE,
    "settings:retry": "settings are reloaded when their file changes",
    "attachments:next": _CHIPS,
    "attachments:previous": _CHIPS,
    "attachments:remove": _CHIPS,
    "attachments:exit": _CHIPS,
    "footer:next": _FOOTER,
    "footer:previous": _FOOTER,
    "footer:up": _FOOTER,
    "footer:down": _FOOTER,
    "footer:openSelected": _FOOTER,
    "footer:clearSelection": _FOOTER,
    "footer:dismiss": _FOOTER,
    "plugin:toggle": _PLUGINS,
    "plugin:install": _PLUGINS,
    "plugin:favorite": _PLUGINS,
}
"""Actions of Claude Code that do nothing here, each with the reason."""

ACTIONS_BY_ID: Final[dict[str, Action]] = {action.id: action for action in ACTIONS}


def describe_action(action_id: str) -> str:
    """Return an action's description in lower case; for `command:name`, the command's name."""
    action = ACTIONS_BY_ID.get(action_id)
    if action is None:
        return action_id.partition(":")[2]
    text = action.description.partition(";")[0]
    return text[:1].lower() + text[1:]
