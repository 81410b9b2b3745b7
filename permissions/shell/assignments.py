"""Variables in front of a command that change nothing about which program runs, or what it runs."""

from __future__ import annotations

from permissions.shell.access import names
from permissions.shell.syntax import Word

SAFE_ASSIGNMENTS = names(
    """
    NODE_ENV CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TZ LANG LANGUAGE RUST_BACKTRACE
    RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GOOS GOARCH CGO_ENABLED TERM COLORTERM
    COLUMNS LINES DEBUG VERBOSE LOG_LEVEL CARGO_TERM_COLOR PYTHONHASHSEED RAILS_ENV RACK_ENV
    FLASK_ENV APP_ENV ENVIRONMENT GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS DEBIAN_FRONTEND HUSKY
    PIP_DISABLE_PIP_VERSION_CHECK PYTHONIOENCODING PYTHONUTF8 PYTHONFAULTHANDLER PORT
    DOCKER_BUILDKIT BUILDKIT_PROGRESS CARGO_INCREMENTAL GOMAXPROCS OMP_NUM_THREADS TF_LOG
    CUDA_VISIBLE_DEVICES TOKENIZERS_PARALLELISM NEXT_TELEMETRY_DISABLED DO_NOT_TRACK
    """
)
"""Variables that cannot make a program run something else, looked through for allow rules."""

_PROGRAM_VARIABLES = names(
    "PAGER GIT_PAGER GH_PAGER MANPAGER EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR"
)
"""Variables that name a program; safe only where it is one that does nothing."""


def is_safe_assignment(name: str, value: Word) -> bool:
    """May an allow rule look through `name=value`?"""
    if not value.is_literal or value.scripts:
        return False
    if name in _PROGRAM_VARIABLES:
        return value.text in ("", "cat", "true", ":")
    return name in SAFE_ASSIGNMENTS or name.startswith("LC_")
