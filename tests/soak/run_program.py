"""Many real runs of the program, started by one process that has everything imported."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from tests.journeys.forked_program import ROOT, ForkedProgram, fork_program
from tests.journeys.program import environment

_SERVE = "from tests.soak.zygote import main; main()"


@dataclass
class Zygote:
    """Starts runs of the program."""

    process: ForkedProgram

    async def start(
        self,
        *arguments: str,
        cwd: Path,
        env: dict[str, str],
        out: Path,
        file_limit: int | None = None,
    ) -> int:
        """Return the process number of a new run; `file_limit` is the largest file, in bytes."""
        order = {
            "arguments": arguments,
            "cwd": str(cwd),
            "env": env,
            "out": str(out),
            "file_limit": file_limit,
        }
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        return await self._number()

    async def ended(self) -> int:
        """Return the exit status of the run, once it has ended."""
        return await self._number()

    async def _number(self) -> int:
        assert self.process.stdout is not None
        return int(await self.process.stdout.readline())


@contextlib.asynccontextmanager
async def zygote(home: Path) -> AsyncIterator[Zygote]:
    """Run one for a while."""
    process = await fork_program([], ROOT, environment(home), stdin=True, code=_SERVE)
    try:
        yield Zygote(process)
    finally:
        process.kill()
        await process.communicate()
