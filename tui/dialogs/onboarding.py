"""The dialog of a start without a model: models of local servers, the demo, and instructions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from themes.theme import Role
from tui.dialogs.choices import Choice, ChoiceList
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, indent_rows
from tui.text.wrap import wrap
from tui.transcript.markdown.markdown_rows import code_rows

if TYPE_CHECKING:
    from agent.model.local_servers import LocalServer

_HOSTED: Final = "export ANTHROPIC_API_KEY=sk-ant-…"
_OWN: Final = "export ANTHROPIC_BASE_URL=http://localhost:11434 ANTHROPIC_MODEL=…"
_OWN_KEY: Final = "If the server needs its own key, set ANTHROPIC_AUTH_TOKEN."
_OTHERS: Final = "Other providers: set OPENAI_API_KEY, …, and start with --model openai/NAME."
KEYS: Final = (
    ("enter", "send"),
    ("shift+tab", "change the permission mode"),
    ("esc", "interrupt (work so far is kept)"),
    ("?", "all shortcuts, / all commands"),
)
"""The four most important keys."""
MAX_OFFERS: Final = 7
"""Maximum number of models, so that all answers including the demo and quitting have a digit."""


class Onboarding(StrEnum):
    """The user's choice if it is not a model."""

    DEMO = "demo"
    QUIT = "quit"


class LocalModel(Struct, frozen=True):
    """A model of a server on this machine."""

    server: str
    base_url: str
    model: str


class OnboardingDialog(GivesAnswer[Onboarding | LocalModel]):
    """Shows what is missing and how to continue."""

    def __init__(
        self,
        highlighter: Highlighter,
        servers: Sequence[LocalServer] = (),
        *,
        is_configured: bool = False,
        obstacle: str = "",
        shows_keys: bool = True,
    ) -> None:
        """Open with the best answer selected: the first model found, or else the demo.

        `is_configured`: `servers` has the server that the user has configured, without a model;
        `obstacle`: why the configured model cannot be used;
        `shows_keys` is False if the keys of the drawn screen do not apply.
        """
        self._server = servers[0] if is_configured else None
        # With an obstacle, what to change in the configuration is shown instead.
        self._keys = KEYS if shows_keys and not obstacle else ()
        self._obstacle = obstacle
        self._highlighter = highlighter
        super().__init__()
        self.ignored_keys = 0
        self._offers = _offers(servers)
        self._answers: list[Onboarding | LocalModel] = [
            *self._offers,
            Onboarding.DEMO,
            Onboarding.QUIT,
        ]
        self._choices = ChoiceList(
            [
                *(
                    Choice(
                        f"Use {offer.model}",
                        "" if is_configured else f"{offer.server} at {offer.base_url}",
                    )
                    for offer in self._offers
                ),
                Choice("Try the demo", "a scripted model in a sample project"),
                Choice("Quit and set up a model"),
            ]
        )

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Choose an answer or move the selection; letters do nothing."""
        if key.isdecimal() and 0 < int(key) <= len(self._answers):
            self._give_answer(int(key) - 1)
            return
        if key == "?":
            # Users may press a key that the dialog mentions.
            return
        if text and text.isprintable():
            self.ignored_keys += 1
            return
        match action_id:
            case "confirm:yes":
                self._give_answer(self._choices.selected_index)
            case "confirm:no":
                self._give_answer(len(self._answers) - 1)
            case "confirm:previous":
                self._choices.move(-1)
            case "confirm:next" | "confirm:nextField":
                self._choices.move(1)
            case _:
                pass

    def paste(self, text: str) -> None:
        """Ignore pastes: an API key must not be shown on the screen."""

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected answer decides."""
        if self._choices.selected_index == choice:
            self._give_answer(choice)
        self._choices.select(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        width = max(1, width_cells - 4)
        pad = (("   ", TEXT),)
        title = (("Welcome", Ink(Role.ACCENT, bold=True)),)
        footer = [FooterRow(BLANK, is_optional=True), *self._choices.rows(width_cells)]
        if self._server is not None:
            return DialogView(
                title, indent_rows(_model_choice_rows(self._server, width), pad, pad), footer
            )
        usual = "These are on this machine:" if self._offers else "No model is configured yet."
        heading = wrap([(self._obstacle or usual, Ink(bold=True))], width)
        rows: list[Row] = [
            *heading,
            BLANK,
            *wrap([("To use Anthropic's API:", MUTED)], width),
            *code_rows([self._highlighter.line(_HOSTED, "bash")], width),
            BLANK,
            *wrap(
                [
                    ("To use a server that supports the Messages API ", MUTED),
                    ("(Ollama, llama.cpp, vLLM, LM Studio, LiteLLM):", MUTED),
                ],
                width,
            ),
            *code_rows([self._highlighter.line(_OWN, "bash")], width),
            *wrap([(_OWN_KEY, MUTED)], width),
            BLANK,
            *wrap([(_OTHERS, MUTED)], width),
            BLANK,
        ]
        if self._offers:
            # Models that can be used at once are shown with the answers, before instructions.
            rows = [*heading, *_settings_note(width), BLANK]
        if self._keys:
            rows += wrap([("Shortcuts:", MUTED)], width)
        for key, does in self._keys:
            rows += wrap([(f"{key:<11}", TEXT), (does, MUTED)], width)
        return DialogView(title, indent_rows(rows, pad, pad), footer)

    def _give_answer(self, index: int) -> None:
        self.give(self._answers[index])


def _settings_note(width: int) -> list[Row]:
    text = (
        "Saved to your settings; change it with /model. "
        "For Anthropic's API set ANTHROPIC_API_KEY instead."
    )
    return wrap([(text, MUTED)], width)


def _model_choice_rows(server: LocalServer, width: int) -> list[Row]:
    left_out = len(server.models) - MAX_OFFERS
    more = f" {left_out} more are listed by /model." if left_out > 0 else ""
    note = "Saved to your settings; change it with /model. --model and ANTHROPIC_MODEL override it."
    return [
        *wrap([(f"Choose a model on {server.base_url}", Ink(bold=True))], width),
        BLANK,
        *wrap([(note + more, MUTED)], width),
    ]


def _offers(servers: Sequence[LocalServer]) -> list[LocalModel]:
    """Return at most `MAX_OFFERS` models, taken from each server in turn."""
    offers: list[LocalModel] = []
    longest = max((len(server.models) for server in servers), default=0)
    for place in range(longest):
        for server in servers:
            if place < len(server.models):
                offers.append(LocalModel(server.name, server.base_url, server.models[place]))
    return offers[:MAX_OFFERS]
