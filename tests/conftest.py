"""Fixtures of all tests: a new home, no credentials, repeatable property tests."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.workers"]

_CAPABILITY_VERSION = 0x20080522
_PASSING_BY_MODES = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH."""

settings.register_profile(
    "default",
    max_examples=30,
    deadline=None,  # on shared machines a slow example is not an error
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("soak", settings.get_profile("default"), max_examples=3000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background run ignores SIGINT, and its children would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A shell's `python3` may be a script that takes ten times as long to find the interpreter.
os.environ["PATH"] = f"{Path(sys.executable).resolve().parent}{os.pathsep}{os.environ['PATH']}"

_NUMBERS = count()
_PERSONAL_PREFIXES = ("AGENT_TUI_", "ANTHROPIC_", "CLAUDE_")
_PERSONAL_NAMES = frozenset(
    {"NO_COLOR", "FORCE_COLOR", "EDITOR", "VISUAL", "TEXTUAL", "COLUMNS", "LINES"}
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude modules and tests from garbage collection: they stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty directory for this test."""
    # With our own numbers: pytest searches all earlier directories for each new one.
    directory = tmp_path_factory.getbasetemp() / f"test{next(_NUMBERS)}"
    directory.mkdir(0o700)
    return directory


@pytest.fixture(autouse=True)
def fresh_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty home directory and an environment without the user's settings."""
    home = tmp_path_factory.getbasetemp() / f"home{next(_NUMBERS)}"
    home.mkdir(0o700)
    monkeypatch.setenv("HOME", str(home))
    # So that temporary files of a test and its programs are removed with its directories.
    temporary = home.with_name(f"{home.name}-tmp")
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    for name in list(os.environ):
        if name.startswith(_PERSONAL_PREFIXES) or name in _PERSONAL_NAMES:
            monkeypatch.delenv(name)
    return home


@pytest.fixture
def unreadable_link() -> Iterator[Path]:
    """A path that is reported as a link but cannot be read, like one that changes meanwhile."""
    if sys.platform != "linux":
        pytest.skip("made of /proc")
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        link = Path(f"/proc/{process.pid}/cwd")
        with pytest.raises(OSError):  # noqa: PT011 - which one depends on the user
            os.readlink(link)
        yield link


@pytest.fixture
def bound_by_modes() -> Iterator[None]:
    """Apply file modes to this thread even for root, which otherwise bypasses them."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, old = struct.pack("=Ii", _CAPABILITY_VERSION, 0), ctypes.create_string_buffer(24)
    assert libc.capget(header, old) == 0
    effective = struct.unpack_from("=I", old.raw)[0] & ~_PASSING_BY_MODES
    assert libc.capset(header, struct.pack("=I", effective) + old.raw[4:]) == 0
    yield
    assert libc.capset(header, old) == 0
