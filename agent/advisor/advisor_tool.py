"""The tool by which the working model consults its advisor, and the switch that offers it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.advisor.consultation import AdvisorChoice, Consultation
from agent.display import TextDisplay
from agent.tools.base import (
    Concurrency,
    InterruptBehavior,
    Tool,
    ToolContext,
    ToolOutcome,
    build_tool,
)
from agent.tools.registry import ToolRegistry

NAME: Final = "Advisor"
SERVER_TOOL: Final = "advisor_20260301"

_GUIDANCE: Final = """Consult it at decisions that are hard or expensive to undo: an error whose \
cause stays ambiguous after one attempt, several designs with no clear winner, an irreversible \
step such as deleting data, an area you know little about, and once before you declare a long \
task done. Gather what it needs first: it sees only what is here. Not for routine steps, and not \
for what reading a file or running a test would settle. It may be asked {max_uses} times in a \
task, so choose when. Give its advice weight, and where the evidence you have contradicts it, say \
so to the user."""
DESCRIPTION: Final = f"""Asks a stronger model for advice. It takes no parameters: the advisor \
reads this whole conversation, your calls and their results included, but has no tools itself.

{_GUIDANCE}"""
SERVED_NOTE: Final = f"""The tool `advisor` asks a stronger model, which reads this whole \
conversation but has no tools itself.

{_GUIDANCE}"""
"""Note sent before a prompt, as the endpoint's own tool has no description from us."""


class AdvisorInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Advisor has no parameters."""


def advisor_tool(consultation: Consultation) -> Tool[AdvisorInput]:
    """Return the Advisor tool."""

    async def run(_input: AdvisorInput, context: ToolContext) -> ToolOutcome:
        advice = await consultation.ask(context.turn_id, context.abort)
        text = f"{advice.facts}\n\n{advice.text}" if not advice.is_error else advice.text
        report = {
            "model": advice.model,
            "input_tokens": advice.usage.prompt_tokens,
            "output_tokens": advice.usage.output_tokens,
            "cost_usd": advice.cost_usd,
        }
        return ToolOutcome(
            advice.text, advice.is_error, display=TextDisplay(text), tool_response=report
        )

    return build_tool(
        name=NAME,
        description=DESCRIPTION.format(max_uses=consultation.max_uses),
        input_model=AdvisorInput,
        run=run,
        concurrency=lambda _: Concurrency.READ_ONLY,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        should_defer=True,
        interrupt_behavior=InterruptBehavior.CANCEL,
        identifier=_identifier,
        max_result_size_chars=20_000,
    )


def _identifier(_input: AdvisorInput, _root: Path) -> str:
    return NAME


class AdvisorSwitch:
    """Selects the advising model, from the next request on.

    The tool is placed after the initial ones, whose cached prefix stays valid. Once offered, it
    stays, and reports when the advisor is off. If the endpoint has its own tool, that is used.
    """

    def __init__(
        self,
        consultation: Consultation,
        registry: ToolRegistry,
        is_served: Callable[[str], bool],
    ) -> None:
        """`is_served` returns whether the endpoint itself can consult an advisor for the current
        model."""
        self._consultation = consultation
        self._registry = registry
        self._is_served = is_served
        self._has_offered = False
        """Whether a request offered our own tool; it stays, as the model may have called it."""
        self._is_explained = False

    def definitions(self) -> tuple[dict[str, object], ...]:
        """Return the tool's definition for the next request; empty before an advisor was chosen."""
        model, tool = self._consultation.model, self._registry.get(NAME)
        if self._uses_endpoint(model):
            remaining = self._consultation.served_left()
            if remaining == 0:
                return ()
            return (
                {"type": SERVER_TOOL, "name": "advisor", "model": model, "max_uses": remaining},
            )
        if tool is None:
            return ()
        self._has_offered = True
        return (tool.to_wire(),)

    def notes(self, is_opening: bool) -> Sequence[str]:
        """Return the note about the endpoint's tool, once in a conversation."""
        self._is_explained &= not is_opening
        if self._is_explained or not self._uses_endpoint(self._consultation.model):
            return ()
        self._is_explained = True
        return (SERVED_NOTE.format(max_uses=self._consultation.max_uses),)

    def _uses_endpoint(self, model: str | None) -> bool:
        return model is not None and not self._has_offered and self._is_served(model)

    @property
    def model(self) -> str | None:
        """The advisor; None if it is off."""
        return self._consultation.model

    def choose(self, model: str | None) -> None:
        """Select the advising model; None turns the advisor off."""
        self._consultation.model = model
        if model is None:
            return
        if self._registry.get(NAME) is None:
            self._registry.register(advisor_tool(self._consultation))


if TYPE_CHECKING:

    def _check_protocol(switch: AdvisorSwitch) -> AdvisorChoice:
        return switch
