"""The question about a write outside the working directories: once, for the session, or not."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, Decision, GrantChoice
from permissions.evaluate.cascade import evaluate_parts
from permissions.mode import Mode
from permissions.request import PermissionRequest
from tests.permissions.engine import FULL, INSIDE, Engine, make_engine
from tests.tui.dialogs.test_dialogs import drawn
from tui.dialogs.grant_offers import grant_offers
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import PermissionAsk
from tui.text.highlight import Highlighter


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return make_engine(tmp_path_factory.mktemp("outside"))


def asked(engine: Engine, command: str, **more: object) -> PermissionDialog:
    request = PermissionRequest("Bash", {"command": command, **more})
    found = evaluate_parts(request, engine.context(mode=Mode.BYPASS, sandbox=INSIDE))
    if more:
        found = evaluate_parts(request, engine.context(sandbox=FULL))
    offers = grant_offers(found, found.decision)
    return PermissionDialog(PermissionAsk(request, found.decision, None, offers), Highlighter())


async def _answer(engine: Engine, command: str, key: str) -> Decision:
    dialog = asked(engine, command)
    dialog.press(key, key, None)
    return await dialog.wait()


async def test_a_write_outside_offers_once_the_session_and_no(engine: Engine) -> None:
    place = str(engine.root.parent / "outside")
    shown = drawn(asked(engine, f"make > {place}/log"), 100)
    assert "1. Yes, once" in shown
    assert "2. Yes, and add this directory for the session" in shown
    assert place in shown.replace("\n", "").split("for the session")[1].replace(" ", "")
    assert "3. No, and stop" in shown
    assert "outside the working directories" in " ".join(shown.split())


async def test_the_answers_of_a_write_outside(engine: Engine) -> None:
    place = str(engine.root.parent / "outside")
    command = f"make > {place}/log"
    once = await _answer(engine, command, "1")
    assert (once.behavior, once.grant) == (Behavior.ALLOW, None)
    session = await _answer(engine, command, "2")
    assert session.grant == GrantChoice((), "session", directories=(place,))
    assert (await _answer(engine, command, "3")).behavior is Behavior.DENY


@pytest.mark.parametrize(
    "command", ["touch /x", "touch /etc/x", "touch ~/x", "touch ~/.ssh/x", "touch ../x"]
)
async def test_a_directory_too_wide_or_too_grave_is_not_offered(
    engine: Engine, command: str
) -> None:
    (engine.home / ".ssh").mkdir(exist_ok=True)
    shown = drawn(asked(engine, command), 100)
    assert "1. Yes, once" in shown
    assert "for the session" not in shown


async def test_leaving_the_sandbox_is_asked_in_so_many_words(engine: Engine) -> None:
    shown = drawn(asked(engine, "make", dangerouslyDisableSandbox=True), 100)
    assert "Run this command outside the sandbox?" in shown
    assert "where nothing limits it" in shown
    assert "for this session" not in shown
