"""Find themes by name: the shipped ones beside this module, and the person's own TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from themes.theme import Theme, ThemeError, build_theme

DEFAULT_THEME: Final = "dark"
_SHIPPED: Final = Path(__file__).parent
_MAX_FILE_BYTES: Final = 64 * 1024


_OTHER_NAMES: Final = {"dark-ansi": "ansi16", "light-ansi": "ansi16-light"}
"""Names that other programs give to what is here."""
_OWN_PREFIX: Final = "custom:"


def available_themes(user_dir: Path | None = None) -> tuple[str, ...]:
    """Return theme names, shipped ones first, each group sorted; user files may replace them."""
    shipped = sorted(path.stem for path in _SHIPPED.glob("*.toml"))
    own = sorted(path.stem for path in user_dir.glob("*.toml")) if user_dir else []
    return (*shipped, *(name for name in own if name not in shipped))


def load_theme(name: str, *, user_dir: Path | None = None) -> tuple[Theme, tuple[str, ...]]:
    """Return the theme and warnings for people.

    A theme with `base = "<name>"` inherits every role it does not name; a user theme without one
    inherits from the shipped theme of its own name, or from dark.

    Raises:
        ThemeError: no such theme, an unreadable file, or a file that is not a theme.
    """
    return _load(_known_name(name, user_dir), user_dir, seen=())


def _known_name(name: str, user_dir: Path | None) -> str:
    """Return what a theme is called here; files of the person's own come before other names."""
    name = name.removeprefix(_OWN_PREFIX)
    return name if _own_file(name, user_dir) is not None else _OTHER_NAMES.get(name, name)


def _own_file(name: str, user_dir: Path | None) -> Path | None:
    # The name comes from settings: it may not leave the folder.
    if user_dir is None or "/" in name or not (user_dir / f"{name}.toml").is_file():
        return None
    return user_dir / f"{name}.toml"


def _load(
    name: str, user_dir: Path | None, *, seen: tuple[str, ...]
) -> tuple[Theme, tuple[str, ...]]:
    own = _own_file(name, user_dir)
    if own is not None and (name not in seen or not _is_shipped(name)):
        if name in seen:
            chain = " → ".join((*seen[seen.index(name) :], name))
            raise ThemeError(f"theme {name!r} is its own base ({chain}): name another one")
        data = _read(own)
        base_name = str(data.get("base", name if _is_shipped(name) else DEFAULT_THEME))
        base_name = _known_name(base_name, user_dir)
        if _own_file(base_name, user_dir) is None and not _is_shipped(base_name):
            known = ", ".join(available_themes(user_dir))
            raise ThemeError(
                f"{own}: no theme is called {base_name!r}, its base; there are: {known}"
            )
        base, base_warnings = _load(base_name, user_dir, seen=(*seen, name))
        theme, warnings = build_theme(name, data, base=base)
        return theme, (*base_warnings, *warnings)
    if not _is_shipped(name):
        known = ", ".join(available_themes(user_dir))
        raise ThemeError(f"no theme is called {name!r}; there are: {known}")
    data = _read(_SHIPPED / f"{name}.toml")
    base_key = data.get("base")
    base_theme = _load(str(base_key), None, seen=())[0] if base_key else None
    return build_theme(name, data, base=base_theme)


def _is_shipped(name: str) -> bool:
    return "/" not in name and (_SHIPPED / f"{name}.toml").is_file()


def _read(path: Path) -> Mapping[str, object]:
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise ThemeError(f"{path}: larger than {_MAX_FILE_BYTES} bytes, not a theme")
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ThemeError(f"{path}: {error}") from error
