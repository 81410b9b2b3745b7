"""Usual locations of credentials, masked in every confinement except `project_files`.

No wildcard rule for a program covers a read of them.
"""

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
    ".local/share/kwalletd",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/github-copilot",
    ".config/glab-cli",
    ".config/hub",
    ".config/doctl",
    ".config/op",
    ".config/rclone",
    ".config/containers/auth.json",
    ".config/composer/auth.json",
    ".composer/auth.json",
    ".gem/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".oci",
    ".boto",
    ".s3cfg",
    ".databrickscfg",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
)
"""Histories are included because they often contain passwords and tokens."""
_OF_THE_SYSTEM: Final = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d")


def credential_places(home: str) -> tuple[str, ...]:
    """Return the absolute paths of all of them, whether they exist or not."""
    return (*[os.path.join(home, name) for name in _IN_HOME], *_OF_THE_SYSTEM)


def credential_paths(home: Path) -> tuple[str, ...]:
    """Return the canonical paths of those that exist."""
    existing = [path for path in credential_places(str(home)) if os.path.exists(path)]
    return tuple(dict.fromkeys(map(os.path.realpath, existing)))
