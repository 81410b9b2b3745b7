"""What of the user's environment programs of the agent do not inherit."""

from __future__ import annotations

import pytest

from permissions.base.process.child_environment import child_environment


@pytest.mark.parametrize(
    ("name", "is_inherited"),
    [
        ("GITHUB_TOKEN", False),
        ("GITHUB_PAT", False),
        ("GH_PAT", False),
        ("PGPASSWORD", False),
        ("MYSQL_PWD", False),
        ("RESTIC_PASSWORD_FILE", False),
        ("GPG_PASSPHRASE", False),
        ("AWS_SECRET_ACCESS_KEY", False),
        ("PATH", True),
        ("PWD", True),
        ("OLDPWD", True),
        ("PATTERN", True),
        ("SSH_AUTH_SOCK", True),
    ],
)
def test_variables_named_like_secrets_stay_here(name: str, is_inherited: bool) -> None:
    assert (name in child_environment({name: "x"}, {})) is is_inherited
    assert name in child_environment({}, {name: "x"})
