"""The demo: a scratch copy of the sample project and the scripted server that plays the model."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agent.model.endpoint import ModelSetup
from agent.model.scripted.demo import DEMO_MODEL, copy_sample, demo_variables
from agent.model.scripted.process import ScriptedProcess
from agent.model.server import Endpoint

DEMO_KEY = "demo"


@dataclass(slots=True)
class Demo:
    """A running demo; close it to end the server and remove the copy."""

    project: Path
    setup: ModelSetup
    _server: ScriptedProcess
    _folder: Path

    async def aclose(self) -> None:
        """End the server and remove the scratch copy."""
        await self._server.aclose()
        shutil.rmtree(self._folder, ignore_errors=True)


def demo_project() -> tuple[Path, Path]:
    """Make the scratch copy; returns its parent (to remove later) and the project folder.

    Raises:
        OSError: there is no room for it.
    """
    folder = Path(tempfile.mkdtemp(prefix="agent-tui-demo-"))
    return folder, copy_sample(folder / "basket")


async def start_demo(folder: Path, project: Path) -> Demo:
    """Start the scripted server for a copy of the sample.

    Raises:
        OSError: it did not start; says why.
    """
    server = ScriptedProcess("demo", variables=demo_variables(project))
    url = await server.start()
    setup = ModelSetup(
        endpoint=Endpoint(base_url=url, api_key=DEMO_KEY),
        model=DEMO_MODEL,
        small_model=DEMO_MODEL,
        origin="embedded demo",
    )
    return Demo(project, setup, server, folder)
