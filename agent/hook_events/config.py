"""Hook configuration from settings: one layer per file, the switches with the source that set
them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agent.errors import UsageError
from agent.settings.load import Settings
from agent.typed_json.read_record import as_values
from hooks.config.config import HookConfig, HookLayer, build_config
from hooks.config.sources import SourceError, read_plugin
from hooks.config.spec import HandlerSpec, HookSource
from permissions.rule import RuleSource

SOURCES: Final = {
    RuleSource.POLICY: HookSource.POLICY,
    RuleSource.PROJECT: HookSource.PROJECT,
    RuleSource.LOCAL: HookSource.LOCAL,
    RuleSource.USER: HookSource.USER,
    RuleSource.CLI: HookSource.CLI,
    RuleSource.SESSION: HookSource.CODE,
}
SWITCHES: Final = (
    "disableAllHooks",
    "allowManagedHooksOnly",
    "allowedHttpHookUrls",
    "httpHookAllowedEnvVars",
    "hookFailureDefault",
)
_PLUGIN_PARTS: Final = {
    ".lsp.json": "language servers",
    "output-styles": "output styles",
    "themes": "themes",
    "monitors": "monitors",
    "bin": "programs",
    "settings.json": "settings",
}
"""Parts of a plugin that are not used, by path."""
_USED_PARTS: Final = (".claude-plugin", "hooks", "agents", "commands", "skills", ".mcp.json")


def hook_config(settings: Settings) -> HookConfig:
    """Return the hooks in force; those of an untrusted project are not in `settings.hooks`."""
    return build_config(hook_layers(settings))


def plugin_hooks(
    directories: Sequence[Path], *, launch_dir: Path, data_home: Path
) -> tuple[tuple[HandlerSpec, ...], tuple[str, ...]]:
    """Return the hooks of the plugins in some directories, and notices about them for users.

    Raises:
        UsageError: a directory does not exist, or a file in it cannot be read.
    """
    layers: list[HookLayer] = []
    notices: list[str] = []
    for directory in directories:
        root = launch_dir / directory
        if not root.is_dir():
            raise UsageError(f"--plugin-dir {directory}: folder not found")
        try:
            layers.extend(read_plugin(root, data_home=data_home))
        except SourceError as error:
            raise UsageError(f"--plugin-dir {directory}: {error}") from error
        if left_out := [what for name, what in _PLUGIN_PARTS.items() if (root / name).exists()]:
            notices.append(
                f"--plugin-dir {directory}: this version uses the hooks, commands, skills, agents "
                f"and MCP servers of a plugin. Left out: {', '.join(left_out)}."
            )
        elif not any((root / name).exists() for name in _USED_PARTS):
            notices.append(f"--plugin-dir {directory}: the folder contains no part of a plugin.")
    config = build_config(layers)
    return config.all(), (*notices, *(str(warning) for warning in config.warnings))


def waiting_layers(settings: Settings) -> list[HookLayer]:
    """Return one empty layer per file of the project whose hooks wait for trust."""
    counts = Counter(item.file for item in settings.trust.new if item.kind == "hook")
    return [
        HookLayer(
            HookSource.LOCAL if file.name == "settings.local.json" else HookSource.PROJECT,
            {},
            file=str(file),
            waiting=count,
        )
        for file, count in counts.items()
        if file is not None
    ]


def hook_layers(settings: Settings) -> list[HookLayer]:
    """Return one layer per file that configures hooks, then one per switch."""
    layers = [
        HookLayer(
            SOURCES[text.source],
            {"hooks": text.raw},
            file=str(text.file) if text.file is not None else None,
        )
        for text in settings.hooks
    ]
    values = as_values(settings.values)
    for switch in SWITCHES:
        if switch in values and switch in settings.effective.origins:
            source = settings.effective.origins[switch].source
            layers.append(HookLayer(SOURCES[source], {switch: values[switch]}))
    return layers
