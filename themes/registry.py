"""Find themes by name: the shipped ones beside this module, and the user's own files."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from themes.theme import Theme, ThemeError, build_theme

DEFAULT_THEME: Final = "dark"
_SHIPPED: Final = Path(__file__).parent
_MAX_FILE_BYTES: Final = 64 * 1024


UserThemes = Path | tuple[Path, ...] | None
"""Folders with the user's own themes, in order of precedence: TOML files, or JSON files in Claude
Code's format."""
ENDINGS: Final = (".toml", ".json")

_OTHER_NAMES: Final = {"dark-ansi": "ansi16", "light-ansi": "ansi16-light"}
"""Names of other programs for shipped themes."""
_OWN_PREFIX: Final = "custom:"


def available_themes(user_dir: UserThemes = None) -> tuple[str, ...]:
    """Return theme names, shipped ones first, each group sorted; user files may replace them."""
    shipped_names = sorted(path.stem for path in _SHIPPED.glob("*.toml"))
    own_names = {
        path.stem
        for directory in _directories(user_dir)
        for ending in ENDINGS
        for path in directory.glob(f"*{ending}")
    }
    return (*shipped_names, *sorted(own_names - set(shipped_names)))


def _directories(user_dir: UserThemes) -> tuple[Path, ...]:
    return (user_dir,) if isinstance(user_dir, Path) else user_dir or ()


def load_theme(name: str, *, user_dir: UserThemes = None) -> tuple[Theme, tuple[str, ...]]:
    """Return the theme and warnings for users.

    A theme with `base = "<name>"` inherits every role it does not name; a user theme without one
    inherits from the shipped theme of its own name, or from dark.

    Raises:
        ThemeError: no such theme, an unreadable file, or a file that is not a theme.
    """
    return _load(known_name(name, user_dir), user_dir, visited_names=())


def known_name(name: str, user_dir: UserThemes) -> str:
    """Return the name under which a theme is found: the user's own files precede the aliases."""
    name = name.removeprefix(_OWN_PREFIX)
    return name if _own_file(name, user_dir) is not None else _OTHER_NAMES.get(name, name)


def _own_file(name: str, user_dir: UserThemes) -> Path | None:
    # The name comes from settings: it may not leave the directory.
    if "/" in name:
        return None
    places = (directory / f"{name}{end}" for directory in _directories(user_dir) for end in ENDINGS)
    return next((path for path in places if os.path.isfile(path)), None)


def _load(
    name: str, user_dir: UserThemes, *, visited_names: tuple[str, ...]
) -> tuple[Theme, tuple[str, ...]]:
    own = _own_file(name, user_dir)
    if own is not None and (name not in visited_names or not _is_shipped(name)):
        if name in visited_names:
            chain = " → ".join((*visited_names[visited_names.index(name) :], name))
            raise ThemeError(f"theme {name!r} is its own base ({chain}): name another one")
        data = _read(own)
        base_name = str(data.get("base", name if _is_shipped(name) else DEFAULT_THEME))
        base_name = known_name(base_name, user_dir)
        if _own_file(base_name, user_dir) is None and not _is_shipped(base_name):
            names = ", ".join(available_themes(user_dir))
            raise ThemeError(
                f"{own}: there is no theme {base_name!r}, its base; available: {names}"
            )
        base, base_warnings = _load(base_name, user_dir, visited_names=(*visited_names, name))
        theme, warnings = build_theme(name, data, base=base)
        return theme, (*base_warnings, *warnings)
    if not _is_shipped(name):
        names = ", ".join(available_themes(user_dir))
        raise ThemeError(f"There is no theme {name!r}. Available: {names}")
    data = _read(_SHIPPED / f"{name}.toml")
    base_key = data.get("base")
    base_theme = _load(str(base_key), None, visited_names=())[0] if base_key else None
    return build_theme(name, data, base=base_theme)


def _is_shipped(name: str) -> bool:
    return "/" not in name and (_SHIPPED / f"{name}.toml").is_file()


def _read(path: Path) -> Mapping[str, object]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            # Reading a named pipe would block forever.
            raise ThemeError(f"{path}: no regular file, not a theme")
        if status.st_size > _MAX_FILE_BYTES:
            raise ThemeError(f"{path}: larger than {_MAX_FILE_BYTES} bytes, not a theme")
        text = path.read_text("utf-8")
        if path.suffix == ".toml":
            return tomllib.loads(text)
        from themes.claude_code import as_theme_file  # only for users of such files

        data = json.loads(text)
        if not isinstance(data, dict):
            raise ThemeError(f"{path}: expected a JSON object with name, base and overrides")
        return as_theme_file(data)
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, ThemeError):
            raise
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise ThemeError(f"{path}: {reason}") from error
