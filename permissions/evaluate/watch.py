"""What an answer rests on beside the call: the questions to the disk that were asked on the way.

An answer may be given again as long as each of them would be answered as it was; they are asked
again every time, so that nothing that changes on the disk goes unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from permissions.context import PermissionContext
from permissions.matching.match_tool import Anchors
from permissions.paths.file_view import FileView
from permissions.paths.path_pattern import Anchor
from permissions.rules.rule_set import RuleBehavior, RuleSource

MAX_ASKED = 64
"""Questions behind one answer; more would not be asked again faster than the answer is found."""
_MAX_NAMES = 100
"""Names in a folder that are remembered."""


# Plain numbers, the places of those who answer in `Answers`: they are compared very often.
REALPATH: Final = 0
IS_DIR: Final = 1
IS_LINK: Final = 2
ENTRIES: Final = 3
PLACES: Final = 4
"""Where path patterns start."""
SCOPE: Final = 5
"""The working directories."""


Asked = tuple[tuple[int, Any, Any], ...]
"""Questions in order: which, about what, and the answer."""

Answers = tuple[Callable[[Any], Any], ...]
"""Who answers each question, in their order."""


class Watch:
    """Asks a view of the files, and keeps what was asked since the last `begin`."""

    def __init__(self, files: FileView) -> None:
        """Nothing is asked yet."""
        self._files = files
        self._asked: dict[tuple[int, Any], Any] = {}
        self._is_large = False

    def begin(self) -> None:
        """Forget what was asked so far."""
        self._asked = {}
        self._is_large = False

    def asked(self) -> Asked | None:
        """Return what was asked; None when it is too much to be asked again."""
        if self._is_large or len(self._asked) > MAX_ASKED:
            return None
        return tuple([(which, what, answer) for (which, what), answer in self._asked.items()])

    def note(self, which: int, what: object, answer: object) -> None:
        """Keep a question that somebody else answered."""
        self._asked[which, what] = answer

    def realpath(self, path: str) -> str | None:
        """Ask and keep."""
        answer = self._files.realpath(path)
        self._asked[REALPATH, path] = answer
        return answer

    def is_dir(self, path: str) -> bool:
        """Ask and keep."""
        answer = self._files.is_dir(path)
        self._asked[IS_DIR, path] = answer
        return answer

    def is_link(self, path: str) -> bool:
        """Ask and keep."""
        answer = self._files.is_link(path)
        self._asked[IS_LINK, path] = answer
        return answer

    def entries(self, path: str) -> tuple[str, ...] | None:
        """Ask and keep."""
        answer = self._files.entries(path)
        self._is_large = self._is_large or len(answer or ()) > _MAX_NAMES
        self._asked[ENTRIES, path] = answer
        return answer


class WatchedAnchors(Anchors):
    """Where path patterns start, with each question kept."""

    def __init__(self, context: PermissionContext, cwd: str, files: FileView, watch: Watch) -> None:
        """`files` answers, `watch` keeps what is found with its help."""
        super().__init__(context, cwd, files)
        self._watch = watch

    def places(self, anchor: Anchor, source: RuleSource, behavior: RuleBehavior) -> tuple[str, ...]:
        """Ask and keep."""
        found = super().places(anchor, source, behavior)
        self._watch.note(PLACES, (anchor, source, behavior), found)
        return found


def is_same(asked: Asked, answers: Answers) -> bool:
    """Would every question be answered as it was?"""
    return all(answers[which](what) == answer for which, what, answer in asked)


if TYPE_CHECKING:

    def _prove(watch: Watch) -> FileView:
        return watch
