"""The half-typed prompt is recorded soon, and a long one less often."""

from __future__ import annotations

from typing import Any

from tui.prompt.draft_autosave import DRAFT_S, LONG_DRAFT, LONG_DRAFT_S, DraftAutosave


class Recorder:
    """Takes drafts, as a conversation does."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.prompt_queue = self

    def save_draft(self, text: str) -> None:
        self.kept.append(text)


def test_a_draft_is_recorded_once_for_many_keys_and_a_long_one_less_often() -> None:
    planned: list[tuple[float, Any]] = []
    recorder = Recorder()
    draft = "short"

    def set_timer(delay_s: float, callback: Any) -> Any:
        planned.append((delay_s, callback))
        return object()

    keeper = DraftAutosave(lambda: recorder, lambda: draft, set_timer)  # type: ignore[arg-type, return-value]
    keeper.schedule()
    keeper.schedule()
    assert [delay_s for delay_s, _ in planned] == [DRAFT_S]
    draft = "short and more"
    planned[0][1]()
    assert recorder.kept == ["short and more"]

    draft = "x" * LONG_DRAFT
    keeper.schedule()
    assert planned[-1][0] == LONG_DRAFT_S
