"""The reason of a failure, as users read it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from permissions.base.text.failure_text import error_reason


def test_a_reason_names_the_file_and_no_number(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Errno") as caught:
        (tmp_path / "absent").read_text()
    assert error_reason(caught.value) == f"No such file or directory: {tmp_path}/absent"
    assert error_reason(caught.value, names_file=False) == "No such file or directory"


def test_a_name_with_control_characters_is_escaped() -> None:
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), b"a\x1b[2J")
    assert error_reason(error) == "No space left on device: 'a\\x1b[2J'"


@pytest.mark.parametrize("error", [ValueError("not a number"), OSError("only a text")])
def test_other_errors_say_what_they_say(error: Exception) -> None:
    assert error_reason(error) == str(error)
