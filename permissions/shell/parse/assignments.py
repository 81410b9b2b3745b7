"""Which variables can change which program runs or what it runs, and which cannot."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
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
"""Variables that cannot make a program run something else; allow rules ignore them."""

_PROGRAM_VARIABLES = names(
    "PAGER GIT_PAGER GH_PAGER MANPAGER EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR"
)
"""Variables that name a program; safe only if that program has no effect."""


_PLAIN_VALUE = compile_late(r"[\w.,:/@%+=*-]*", re.ASCII)
"""A value that make, or a shell started by a program, reads only as text."""


def is_safe_assignment(name: str, value: Word) -> bool:
    """Return whether an allow rule may ignore `name=value`."""
    if not value.is_literal or value.scripts or not _PLAIN_VALUE.fullmatch(value.text):
        return False
    if name in _PROGRAM_VARIABLES:
        return value.text in ("", "cat", "true", ":")
    return name in SAFE_ASSIGNMENTS or name.startswith("LC_")


_DECIDES = compile_late(
    r"PATH|CDPATH|HOME|PWD|IFS|ENV|BASH_\w+|SHELL|SHELLOPTS|BASHOPTS|PS[0-9]|PROMPT_COMMAND"
    r"|(?:LD|DYLD|GIT|PYTHON|PERL|RUBY|NODE|NPM|YARN|CARGO|RUSTC?|GO|JAVA|MAKE|GEM|BUNDLE)_?\w*"
    r"|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|npm_\w+|\w*(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|PRELOAD)"
    r"|CC|CXX|KUBECONFIG|ZDOTDIR|TMPDIR|\w+_(?:HOME|OPTS|OPTIONS|FLAGS|ADDOPTS|HOST|CONFIG|RC)"
    r"|LESS(?:OPEN|CLOSE)|XDG_\w+|SSH_\w+|RSYNC_RSH|PIP_\w+|UV_\w+|\w+_PROXY|\w+_proxy"
)
"""Variables that decide what programs run, where they search, or what they connect to."""


def decides(name: str) -> bool:
    """Return whether a program may behave differently with another value of this variable."""
    return _DECIDES.fullmatch(name) is not None


def printf_target(words: Sequence[Word]) -> Sequence[Word]:
    """Return the variable that `printf -v` sets, attached to the option or after it."""
    if words[:1] and words[0].text == "-v":
        return words[1:2]
    return [Word(one.raw, one.text[2:]) for one in words[:1] if one.text[:2] == "-v"]


def setting_risk(builtin: str, words: Sequence[Word]) -> str:
    """Return why a wildcard does not cover setting these variables; "" if it may."""
    if builtin == "printf":
        words = printf_target(words)
    for word in words:
        name, equals, value = word.text.partition("=")
        name = name.removesuffix("+").partition("[")[0]
        if name.startswith("-"):
            if builtin in _NAMING and set(name) & set("nf"):
                return f"{builtin} {name} makes a name mean something else"
            continue
        if not Word("", name).is_literal:
            return f"{builtin} sets a variable that is not known in advance"
        is_safe = bool(equals) and is_safe_assignment(name, Word(value, value))
        if decides(name) and not is_safe:
            return f"{builtin} sets {name}, which decides what programs do"
    return ""


_NAMING = names("export declare typeset local")
