"""Texts too long for a conversation: a file has the whole, the model receives a preview."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from hooks.answers.response import HandlerResult

LIMIT_CHARS: Final = 10_000
PREVIEW_CHARS: Final = 2_000


class Overflow:
    """Stores long texts of one session in its private directory; file names count up."""

    def __init__(self, directory: Path) -> None:
        """`directory` is made when the first text needs it."""
        self._directory = directory
        self._count = 0

    def cap(self, result: HandlerResult) -> tuple[HandlerResult, Path | None]:
        """Return the result with every long text replaced, and the file of the first one."""
        first: Path | None = None

        def cap_text(text: str | None) -> str | None:
            nonlocal first
            if text is None or len(text) <= LIMIT_CHARS:
                return text
            file = self._store(result.spec.event, text)
            first = first or file
            return _preview(text, file)

        answer = result.answer
        answer = replace(
            answer,
            additional_context=cap_text(answer.additional_context),
            reason=cap_text(answer.reason),
            system_message=cap_text(answer.system_message),
            stop_reason=cap_text(answer.stop_reason),
        )
        return replace(result, answer=answer), first

    def _store(self, event: str, text: str) -> Path | None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            while True:
                self._count += 1
                path = self._directory / f"hook-{event}-{self._count}.txt"
                try:
                    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                except FileExistsError:
                    continue
                break
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as stream:
                stream.write(text)
        except OSError:
            # On a full or read-only disk only the rest of the text is lost; the answer still
            # applies.
            return None
        return path


def _preview(text: str, file: Path | None) -> str:
    where = f"the whole text is in {file}" if file else "the rest could not be saved"
    return f"{text[:PREVIEW_CHARS]}\n[… {len(text)} characters in all; {where}]"
