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
    name = name.removeprefix(_OWN_PREFIX)
    has_own = user_dir is not None and (user_dir / f"{name}.toml").is_file()
    return _load(name if has_own else _OTHER_NAMES.get(name, name), user_dir, seen=())


def _load(
    name: str, user_dir: Path | None, *, seen: tuple[str, ...]
) -> tuple[Theme, tuple[str, ...]]:
    if user_dir is not None and name not in seen:
        own = user_dir / f"{name}.toml"
        # The name comes from settings: it may not leave the folder.
        if own.parent == user_dir and "/" not in name and own.is_file():
            data = _read(own)
            base_name = str(data.get("base", name if _is_shipped(name) else DEFAULT_THEME))
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
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ThemeError(f"{path}: {error}") from error
