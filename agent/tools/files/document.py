"""Documents that are not trusted are read in a process of their own, with limits.

Parsers of web pages and PDFs take quadratic time, recurse or allocate without end on documents made
for that. Python can't stop a thread, but every process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from permissions.base.process.python_worker import python_worker
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart

WORKER: Final = Path(__file__).resolve().with_name("document_worker.py")
CPU_S = 20
"""Processor time for one document."""
MEMORY_BYTES: Final = 2 * 1024**3
_BACKSTOP_S: Final = 300.0
_MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024


class UnreadableDocument(Exception):
    """The document cannot be read; the text tells why, without a subject."""


async def read_document(data: bytes, request: Mapping[str, object]) -> dict[str, Any]:
    """Return the worker's answer to a request (`agent.tools.files.document_worker`).

    Raises:
        UnreadableDocument: it exceeded a limit, or ended the worker.
    """
    line = json.dumps({**request, "cpu_s": CPU_S}).encode() + b"\n"
    program = replace(
        python_worker(WORKER, Path("/")), stdin=line + data, memory_bytes=MEMORY_BYTES
    )
    try:
        result = await run_program(
            program, RunLimits(timeout_s=_BACKSTOP_S, stdout_bytes=_MAX_ANSWER_BYTES)
        )
    except CannotStart as error:
        raise UnreadableDocument(f"cannot be read: {error}") from error
    if result.timed_out or (result.exit_code or 0) < 0:
        raise UnreadableDocument(f"takes more than {CPU_S} s or too much memory to read")
    try:
        answer: dict[str, Any] = json.loads(result.stdout)
    except ValueError as error:
        reason = result.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UnreadableDocument(f"cannot be read: {reason}") from error
    return answer
