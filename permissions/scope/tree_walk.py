"""What lies below a directory, as far as it can be looked at."""

from __future__ import annotations

from permissions.paths.file_view import FileView


def entries_below(files: FileView, directory: str, limit: int) -> list[str] | None:
    """Return everything below a directory by path; None where it is too much, or unreadable.

    Links are listed and not followed.
    """
    found: list[str] = []
    left = [directory] if files.is_dir(directory) else []
    while left:
        names = files.entries(one := left.pop())
        if names is None or len(found) + len(names) > limit:
            return None
        for name in names:
            path = f"{one}/{name}"
            found.append(path)
            if files.is_dir(path) and not files.is_link(path):
                left.append(path)
    return found
