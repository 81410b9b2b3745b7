"""The first start without credentials: the demo, or how to connect a model."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from themes.theme import Role
from tui.components.markdown import code_rows
from tui.dialogs.choices import Choice, ChoiceList
from tui.dialogs.dialog import Answered, DialogView, FooterRow
from tui.text.highlight import Highlighter
from tui.text.ink import BLANK, MUTED, TEXT, Ink, Row, indented
from tui.text.wrap import wrap

_HOSTED: Final = "export ANTHROPIC_API_KEY=sk-ant-…"
_OWN: Final = "export ANTHROPIC_BASE_URL=http://localhost:11434"


class Onboarding(StrEnum):
    """What the person chose."""

    DEMO = "demo"
    QUIT = "quit"


class OnboardingDialog:
    """Says what is missing and how to go on."""

    def __init__(self, highlighter: Highlighter) -> None:
        """Open with the demo selected."""
        self._highlighter = highlighter
        self._answered: Answered[Onboarding] = Answered()
        self._choices = ChoiceList(
            [
                Choice("Look around with the demo", "a scripted model in a sample project"),
                Choice("Quit and connect a model"),
            ]
        )

    @property
    def is_done(self) -> bool:
        """Whether it was answered."""
        return self._answered.is_done

    async def wait(self) -> Onboarding:
        """Return what the person chose."""
        return await self._answered.wait()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Choose or move."""
        if key in ("1", "2"):
            self._give(int(key) - 1)
        match action_id:
            case "confirm:yes":
                self._give(0 if key == "y" else self._choices.selected)
            case "confirm:no":
                self._give(1)
            case "confirm:previous" | "confirm:next" | "confirm:nextField":
                self._choices.move(1)
            case _:
                pass

    def paste(self, text: str) -> None:
        """Ignore pastes: keys do not belong into a screen that others may see."""

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected answer decides."""
        if self._choices.selected == choice:
            self._give(choice)
        self._choices.select(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        width = max(1, width_cells - 4)
        pad = (("   ", TEXT),)
        rows: list[Row] = [
            *wrap([("No model is configured yet.", Ink(bold=True))], width),
            BLANK,
            *wrap([("To use Anthropic's API:", MUTED)], width),
            *code_rows([self._highlighter.line(_HOSTED, "bash")], width),
            BLANK,
            *wrap(
                [
                    ("To use any server that speaks the Messages API ", MUTED),
                    ("(Ollama, llama.cpp, vLLM, LM Studio, LiteLLM):", MUTED),
                ],
                width,
            ),
            *code_rows([self._highlighter.line(_OWN, "bash")], width),
        ]
        footer = [FooterRow(BLANK, is_optional=True), *self._choices.rows(width_cells)]
        title = (("Welcome", Ink(Role.ACCENT, bold=True)),)
        return DialogView(title, indented(rows, pad, pad), footer)

    def _give(self, index: int) -> None:
        self._answered.give(Onboarding.DEMO if index == 0 else Onboarding.QUIT)
