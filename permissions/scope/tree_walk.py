"""Lists what is below a directory, up to a limit."""

from __future__ import annotations

from permissions.paths.file_view import FileView


def entries_below(files: FileView, directory: str, limit: int) -> list[str] | None:
    """Return the paths of everything below a directory; None if there are too many.

    Links are listed and not followed.
    """
    paths: list[str] = []
    directories = [directory] if files.is_dir(directory) else []
    while directories:
        names = files.entries(one := directories.pop())
        if names is None or len(paths) + len(names) > limit:
            return None
        for name in names:
            path = f"{one}/{name}"
            paths.append(path)
            if files.is_dir(path) and not files.is_link(path):
                directories.append(path)
    return paths
