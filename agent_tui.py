"""The installed command: takes foreign directories off the import path, then starts `tui.cli`.

`python -m agent_tui` looks for modules in the current directory first, and every Python program in
the directories of PYTHONPATH. A project with a `json.py` or a `tui` of its own would have it run
before anything is asked. Nothing is imported here that may come from there: `os`, `site` and `sys`
are part of the interpreter, and even `from __future__ import …` would look for a file.
"""

import os
import site
import sys

_LIBRARIES = "LD_LIBRARY_PATH"


def main() -> int:
    """Run the program and return its exit status."""
    _leave_current_directory()
    sys.path[:] = _without_foreign(sys.path)
    # From the path that is clean now.
    if _shares_files():
        from permissions.base.files.separate_files import separate_files

        separate_files("agent-tui")
    from tui.cli import main as run

    return run()


def _leave_current_directory() -> None:
    """Start again where the system would look for libraries in the current directory.

    That is what an empty entry means, as in `LD_LIBRARY_PATH=/opt/x:$LD_LIBRARY_PATH` without an
    earlier value; and a project may contain a `libssl.so.3`. What is started inherits the rest.
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
            return  # what it starts is safe all the same


def _shares_files() -> bool:
    """Has a file of this program, or of a package that it needs, another name elsewhere, and can
    this user replace it?"""
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

    Where this program or Python's packages are installed stays, whoever named it.
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
