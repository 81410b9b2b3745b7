"""The installed command: removes untrusted directories from the import path, starts `tui.cli`.

`python -m agent_tui` searches for modules in the current directory first, and every Python program
searches the directories of PYTHONPATH. A `json.py` or `tui` package in a project would run before
the user is asked for trust. This module imports nothing that could come from there: `os`, `site`
and `sys` are already loaded, whereas even `from __future__ import …` would search for a file.
"""

import os
import site
import sys

_LIBRARIES = "LD_LIBRARY_PATH"


def main() -> int:
    """Run the program and return its exit status."""
    _leave_current_directory()
    sys.path[:] = _without_foreign(sys.path)
    # Imported only now that the path is clean.
    if _shares_files():
        from permissions.base.files.separate_files import separate_files

        separate_files("agent-tui")
    from tui.cli import main as run

    return run()


def _leave_current_directory() -> None:
    """Restart the program if the dynamic linker would search the current directory.

    An empty entry of LD_LIBRARY_PATH means the current directory, as in `/opt/x:$LD_LIBRARY_PATH`
    when the variable was not set; and a project may contain a `libssl.so.3`. The restarted program
    inherits the other entries.
    """
    value = os.environ.get(_LIBRARIES)
    entries = (value or "").replace(";", ":").split(":")
    if len(entries) < 2 or all(entries):
        return
    os.environ[_LIBRARIES] = ":".join(filter(None, entries))
    if sys.executable:
        try:
            os.execv(sys.executable, sys.orig_argv)
        except OSError:
            return  # child processes still inherit the cleaned variable


def _shares_files() -> bool:
    """Return whether a file of this program or of msgspec has other hard links and this user owns
    it."""
    packages = [os.path.join(path, "msgspec", "__init__.py") for path in site.getsitepackages()]
    for path in (__file__, *packages):
        try:
            status = os.lstat(path)
            if status.st_nlink > 1 and status.st_uid == os.geteuid():
                return True
        except OSError:
            continue
    return False


def _without_foreign(path: list[str]) -> list[str]:
    """Return the path without the current directory and the entries of PYTHONPATH.

    The directories of this program and of installed packages stay, even if PYTHONPATH names them.
    """
    python_path = os.environ.get("PYTHONPATH")
    foreign = {
        _absolute("."),
        *map(_absolute, python_path.split(os.pathsep) if python_path else ()),
    }
    foreign -= {_absolute(os.path.dirname(__file__)), *site.getsitepackages()}
    return [entry for entry in path if entry and _absolute(entry) not in foreign]


def _absolute(entry: str) -> str:
    try:
        return os.path.abspath(entry)
    except OSError:  # the current directory no longer exists
        return entry


if __name__ == "__main__":
    sys.exit(main())
