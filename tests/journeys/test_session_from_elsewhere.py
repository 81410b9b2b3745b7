"""A session whose directory was copied from another machine, where anyone may have written it."""

from __future__ import annotations

from pathlib import Path

from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.journeys.conftest import Begin


async def test_its_temporary_directory_is_no_link(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    write = ToolCall("Bash", {"command": "echo x > $TMPDIR/planted"})
    turns = [Turn((Text("a"),)), Turn((write,)), Turn((Text("b"),))]
    first = await begin(turns)
    await first.send("go")
    await first.conversation.aclose()
    (scratch,) = (fresh_home / ".agent").glob("**/scratch")
    outside = tmp_path / "outside"
    scratch.rename(outside)
    scratch.symlink_to(outside)
    session = first.conversation.view.session_id
    again = await begin(server=first.server, resume=session, permission_mode="acceptEdits")
    await again.send("go on")
    assert (scratch / "planted").exists()
    assert not scratch.is_symlink()
    assert not (outside / "planted").exists()
