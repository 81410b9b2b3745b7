"""Where credentials usually are: masked for what only reads, readable for what the user let run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_IN_HOME: Final = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".kube",
    ".docker/config.json",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".claude/.credentials.json",
    ".codex/auth.json",
)
_OF_THE_SYSTEM: Final = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d")


def credential_paths(home: Path) -> tuple[str, ...]:
    """Return the canonical paths of those that exist."""
    candidates = [*[os.path.join(home, name) for name in _IN_HOME], *_OF_THE_SYSTEM]
    real_paths = [os.path.realpath(path) for path in candidates if os.path.exists(path)]
    return tuple(dict.fromkeys(real_paths))
