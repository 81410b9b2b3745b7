"""What a crash leaves on the normal screen."""

from __future__ import annotations

import pytest
from textual.app import ComposeResult

from tui.app.app import AgentApp
from tui.screen.crash import CrashReport


class FailingApp(CrashReport[None]):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def compose(self) -> ComposeResult:
        raise self._error


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (ValueError("x"), "agent-tui crashed. Please report this:"),
        (ImportError("x"), "agent-tui crashed. If it was updated while it ran, start it again;"),
    ],
)
async def test_a_crash_explains_what_to_do_first(
    error: Exception, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = FailingApp(error)
    with pytest.raises(type(error)):
        async with app.run_test():
            pass
    printed = " ".join(capsys.readouterr().err.split())
    assert advice in printed
    assert "Traceback" in printed


async def test_a_crash_shows_no_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing(FailingApp):
        # Without the parts of the screen, which take seconds.
        without_secrets = staticmethod(AgentApp.without_secrets)

    monkeypatch.setenv("TRACKER_TOKEN", "Xq7-secret-value")
    app = Failing(ValueError("Xq7-secret-value, sk-ant-api03-0123456789abcdefghij"))
    with pytest.raises(ValueError, match="Xq7"):
        async with app.run_test():
            pass
    printed = "".join(capsys.readouterr().err.split())
    assert "[redacted" in printed
    assert "Xq7-secret-value" not in printed
    assert "0123456789abcdefghij" not in printed
