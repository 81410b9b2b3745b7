"""Read files that configure hooks: settings, `hooks.json` of plugins, front matter of skills."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from hooks.config.config import HookLayer
from hooks.config.spec import HookSource, PluginRoot
from hooks.events.capabilities import EFFECTS
from permissions.base.files.named_pipe import PipeError, text_of_pipe
from permissions.base.files.plain_file import read_plain
from permissions.base.text.strict_yaml import NotYaml, load_yaml

MANIFEST: Final = Path(".claude-plugin", "plugin.json")
USUAL_FILES: Final = frozenset({("hooks", "hooks.json"), (".claude-plugin", "plugin.json")})
"""Directory and name of the files that define a plugin's hooks."""


class SourceError(ValueError):
    """A file that was named cannot be used; the message gives path, line and reason."""


def read_settings_file(path: Path, source: HookSource) -> HookLayer:
    """Read one file as a trusted layer: JSON, or Markdown with front matter. Raises SourceError."""
    try:
        # The user named the file, which may be a pipe: `--settings <(…)`.
        pipe_text = text_of_pipe(path)
    except PipeError as error:
        raise SourceError(f"{path}: {error}") from error
    text = pipe_text if pipe_text is not None else _text_of(path)
    settings = _front_matter(path, text) if path.suffix == ".md" else _hooks_json(path, text)
    owner = None
    if source in (HookSource.SKILL, HookSource.AGENT):
        owner = f"{source.value}:{settings.get('name', path.stem)}"
    return HookLayer(source=source, settings=settings, file=str(path), owner=owner)


def read_plugin_file(path: Path, *, data_home: Path) -> tuple[HookLayer, ...]:
    """Read the plugin that a file belongs to, or only the file if it is not in the usual place.

    Raises:
        SourceError: a file of it cannot be read.
    """
    path = path.resolve()
    if path.is_dir():
        return read_plugin(path, data_home=data_home)
    directory = path.parent
    if (directory.name, path.name) in USUAL_FILES:
        return read_plugin(directory.parent, data_home=data_home)
    root = directory.parent if directory.name == "hooks" else directory
    plugin = PluginRoot(name=path.stem, root=root, data=data_home / path.stem)
    settings = _hooks_json(path, _text_of(path))
    return (HookLayer(HookSource.PLUGIN, settings, str(path), plugin=plugin),)


def read_plugin(root: Path, *, data_home: Path) -> tuple[HookLayer, ...]:
    """Read the hooks of a plugin: its `hooks/hooks.json` and those of its manifest.

    Args:
        data_home: Directory in which each plugin has one of its own for data.

    Raises:
        SourceError: a file of it cannot be read.
    """
    root = root.resolve()
    manifest_path = root / MANIFEST
    manifest = _manifest(manifest_path)
    name = str(manifest.get("name") or root.name)
    plugin = PluginRoot(name=name, root=root, data=data_home / name)
    hooks = manifest.get("hooks")
    entries = hooks if isinstance(hooks, list) else [hooks]
    layers = [
        HookLayer(
            HookSource.PLUGIN,
            entry if "hooks" in entry else {"hooks": entry},
            str(manifest_path),
            plugin=plugin,
        )
        for entry in entries
        if isinstance(entry, Mapping)
    ]
    layers += _plugin_files(
        root, [entry for entry in entries if isinstance(entry, str)], manifest_path, plugin
    )
    return tuple(layers)


def plugin_name(root: Path) -> str:
    """Return the plugin's name from its manifest, or else the name of its directory."""
    root = root.resolve()
    try:
        name = _manifest(root / MANIFEST).get("name")
    except SourceError:  # the reader of its hooks reports this
        name = None
    return str(name or root.name)


def _manifest(path: Path) -> Mapping[str, object]:
    return _json(path, _text_of(path)) if path.is_file() else {}


def _plugin_files(
    root: Path, file_names: Sequence[str], manifest_path: Path, plugin: PluginRoot
) -> Iterator[HookLayer]:
    files = [root / "hooks" / "hooks.json", *(root / name for name in file_names)]
    for path in dict.fromkeys(file.resolve() for file in files):
        if path.is_file():
            settings = _hooks_json(path, _text_of(path))
            yield HookLayer(HookSource.PLUGIN, settings, str(path), plugin=plugin)
        elif path != root / "hooks" / "hooks.json":
            raise SourceError(f"{manifest_path}: names {path}, which does not exist")


def _text_of(path: Path) -> str:
    try:
        return read_plain(path).decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: not UTF-8 ({error.reason})") from error


def _hooks_json(path: Path, text: str) -> Mapping[str, object]:
    """Return settings; events without an enclosing `hooks` key are accepted, too."""
    settings = _json(path, text)
    if "hooks" not in settings and any(name in EFFECTS for name in settings):
        return {"hooks": settings}
    return settings


def _json(path: Path, text: str) -> Mapping[str, object]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(document, Mapping):
        raise SourceError(f"{path}: expected a JSON object")
    return document


def _front_matter(path: Path, text: str) -> Mapping[str, object]:
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        raise SourceError(f"{path}: has no front matter")
    try:
        end = next(i for i, line in enumerate(lines[1:], start=1) if line.strip() == "---")
    except StopIteration as error:
        raise SourceError(f"{path}: its front matter has no end") from error
    try:
        document = load_yaml("\n".join(lines[1:end]))
    except NotYaml as error:
        raise SourceError(f"{path}: front matter is not YAML: {error}") from error
    if not isinstance(document, Mapping):
        raise SourceError(f"{path}: front matter is not a list of keys")
    return document
