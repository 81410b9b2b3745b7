"""The contenders that settings turn on: model classifier, bridge and channel.

A project cannot turn them on: only the user or the administrator of the machine decides who may
answer for the user. Next: `permissions.resolve.model_classifier`, `.http_bridge` and
`.command_channel`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.abort import AbortController
from agent.model.small_model import SmallModel
from agent.settings.load import Settings
from permissions.base.text.failure_text import error_reason
from permissions.confinement import Confinement, SandboxLevel, can_hold
from permissions.context import is_locked
from permissions.resolve.contender import Contender
from permissions.resolve.model_classifier import Guidance, ModelClassifier
from permissions.rule import RuleSource

if TYPE_CHECKING:
    from permissions.resolve.command_channel import Channel
    from permissions.resolve.http_bridge import Bridge


BRIDGE_FILE: Final = "bridge.json"
"""File in the session's directory with the bridge's address and token."""
MAX_ANSWER_TOKENS: Final = 300
_MAY_SET: Final = frozenset({RuleSource.USER, RuleSource.POLICY})
_DEFAULTS_ENTRY: Final = "$defaults"


def is_auto_available(settings: Settings) -> bool:
    """Whether the model classifier is on, and with it the mode `auto`."""
    section = settings.values.autoMode
    is_on = section is not None and section.enabled is True
    return is_on and not is_locked(settings.policy, "disableAutoMode")


class PermissionContenders:
    """Builds the contenders from the settings at startup; they live as long as the conversation."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        *,
        directory: Path,
        env: Mapping[str, str],
        warn: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """`settings` returns the current settings, `directory` is the session's, `env` is for child
        processes, and `warn` receives warnings."""
        self._settings = settings
        self._directory = directory
        self._env = env
        self._bridge: Bridge | None = None
        self._channel: Channel | None = None
        values = settings().values
        bridge, channel = values.permissionBridge, values.permissionChannel
        if bridge is not None and bridge.enabled and self._may_set("permissionBridge"):
            from permissions.resolve.http_bridge import Bridge  # few settings have one

            self._bridge = Bridge(origins=bridge.origins or ())
        if channel is not None and self._may_set("permissionChannel"):
            from permissions.resolve.command_channel import Channel  # few settings have one

            self._channel = Channel(channel.command, env=env, notify=warn)

    def remote(self) -> list[Contender]:
        """Return the contenders through which the user answers remotely; on a tie the first one
        wins."""
        return [contender for contender in (self._bridge, self._channel) if contender is not None]

    def classifier(
        self,
        small: SmallModel,
        *,
        user_messages: Callable[[], Sequence[str]],
        is_on: Callable[[], bool],
        level: Callable[[], SandboxLevel],
    ) -> ModelClassifier:
        """Return the model classifier.

        Args:
            user_messages: Returns what the user sent, oldest first.
            level: Returns the sandbox level; commands may be allowed only where `project_files` can
                be enforced.
        """

        async def ask(*, system: str, prompt: str) -> str:
            # The race cancels slower contenders, so this one needs no abort signal.
            signal = AbortController().signal
            return await small.ask(
                system=system, prompt=prompt, max_tokens=MAX_ANSWER_TOKENS, abort=signal
            )

        return ModelClassifier(
            ask,
            user_messages=user_messages,
            is_on=lambda: is_on() and is_auto_available(self._settings()),
            may_allow=lambda request: (
                request.tool != "Bash" or can_hold(level(), Confinement.PROJECT_FILES)
            ),
            guidance=self._guidance,
        )

    async def start(self) -> str | None:
        """Start the bridge if it is enabled; return a notice about it for the user, or None."""
        if self._bridge is None:
            return None
        section = self._settings().values.permissionBridge
        port = section.port if section is not None else 0
        file = self._directory / BRIDGE_FILE
        try:
            await self._bridge.start(file, port=port)
        except OSError as error:
            return f"The permission bridge cannot be opened: {error_reason(error)}."
        return f"Permission requests can be answered at {self._bridge.url} (token in {file})."

    async def aclose(self) -> None:
        """Close the bridge."""
        if self._bridge is not None:
            await self._bridge.aclose()

    def _may_set(self, key: str) -> bool:
        origin = self._settings().effective.origins.get(key)
        return origin is not None and origin.source in _MAY_SET

    def _guidance(self) -> Guidance:
        section = self._settings().values.autoMode
        if section is None:
            return Guidance()
        return Guidance(
            environment=_own_entries(section.environment),
            allow=_own_entries(section.allow),
            soft_deny=_own_entries(section.soft_deny),
            hard_deny=_own_entries(section.hard_deny),
        )


def _own_entries(entries: Sequence[str] | None) -> tuple[str, ...]:
    """Return the user's entries without `$defaults`: the built-in ones always apply."""
    return tuple(entry for entry in entries or () if entry != _DEFAULTS_ENTRY)
