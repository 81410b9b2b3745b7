"""AskUserQuestion: ask the user up to four multiple-choice questions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.tools.base import (
    Concurrency,
    InterruptBehavior,
    Tool,
    ToolContext,
    ToolError,
    ToolOutcome,
    build_tool,
)
from agent.tools.decline_text import DECLINED_AND_STOPPED, UNANSWERED
from agent.tools.services import PartialAnswers, ProgramAnswers, Question, QuestionOption
from agent.typed_json.read_record import as_values

MAX_QUESTIONS: Final = 4
MAX_OPTIONS: Final = 4

DESCRIPTION: Final = f"""Asks the user 1 to {MAX_QUESTIONS} questions, each with 2 to \
{MAX_OPTIONS} answers to choose from.

Use it when a decision is the user's to make and the work depends on it: requirements, \
preferences, a choice between real alternatives. Do not use it for what you can find out yourself, \
to ask whether to go on, or to have a plan approved (ExitPlanMode does that).

The user can always answer in their own words, so leave out "Other". Put the answer you \
recommend first and mark it "(Recommended)". Where answers are better seen than described (a \
layout, a piece of code), give each a `preview`. `header` is a label of at most 12 characters. Set \
`multiSelect` when several answers may apply at once."""


class OptionInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer offered."""

    label: Annotated[str, Meta(min_length=1, max_length=200, description="One to five words.")]
    description: Annotated[str, Meta(max_length=2_000, description="What choosing it means.")] = ""
    preview: Annotated[
        str, Meta(max_length=10_000, description="Markdown shown while this is selected.")
    ] = ""


class QuestionInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question."""

    question: Annotated[str, Meta(min_length=1, max_length=4_000, description="The question.")]
    header: Annotated[str, Meta(max_length=40, description="A very short label.")] = ""
    options: Annotated[list[OptionInput], Meta(min_length=2, max_length=MAX_OPTIONS)]
    multiSelect: Annotated[  # the name that models know
        bool, Meta(description="Allow several answers.")
    ] = False


class AskUserQuestionInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of AskUserQuestion."""

    questions: Annotated[list[QuestionInput], Meta(min_length=1, max_length=MAX_QUESTIONS)]

    def __post_init__(self) -> None:
        texts = [question.question for question in self.questions]
        if len(set(texts)) < len(texts):
            raise ValueError("two questions are the same")
        for question in self.questions:
            if len({option.label for option in question.options}) < len(question.options):
                raise ValueError(f"two answers to {question.question!r} are the same")


async def _run(tool_input: AskUserQuestionInput, context: ToolContext) -> ToolOutcome:
    services = context.services
    questions = tuple(_question(question) for question in tool_input.questions)
    question_values = [as_values(question) for question in tool_input.questions]
    answers: Mapping[str, str] | None
    if services.user is not None:
        answers = await services.user.ask(questions, context.abort)
    elif services.plans is not None:
        answer = await services.plans.answer_questions(
            question_values, context.tool_use_id, context.abort
        )
        if answer.refusal:
            return _refusal_outcome(answer, question_values)
        answers = answer.answers or None
    else:
        raise ToolError(
            "There is no user to answer.", "Decide yourself and say which assumption you made."
        )
    if answers is None:
        return ToolOutcome(
            f"{UNANSWERED} Do not ask the same again: continue with the most reasonable "
            "assumption, or wait for what they say next.",
            is_error=True,
            tool_response={"questions": question_values, "answers": {}},
        )
    lines = [
        f"{question.question}\n→ {answers.get(question.question) or '(no answer)'}"
        for question in questions
    ]
    head = "The user answered:"
    if isinstance(answers, PartialAnswers):
        head = (
            "The form was not finished: the user may be away. Continue with the most reasonable "
            "assumption for what has no answer, and ask again later if it matters. So far:"
        )
    return ToolOutcome(
        f"{head}\n\n" + "\n\n".join(lines),
        tool_response={"questions": question_values, "answers": dict(answers)},
    )


def _refusal_outcome(
    answer: ProgramAnswers, question_values: list[dict[str, object]]
) -> ToolOutcome:
    return ToolOutcome(
        DECLINED_AND_STOPPED if answer.ends_turn else answer.refusal,
        is_error=True,
        tool_response={"questions": question_values, "answers": {}},
        ends_turn=answer.ends_turn,
    )


def _question(question: QuestionInput) -> Question:
    return Question(
        question=question.question,
        header=question.header,
        options=tuple(
            QuestionOption(option.label, option.description, option.preview)
            for option in question.options
        ),
        multi_select=question.multiSelect,
    )


def _identifier(tool_input: AskUserQuestionInput, _root: Path) -> str:
    first = tool_input.questions[0]
    more = f" (+{len(tool_input.questions) - 1})" if len(tool_input.questions) > 1 else ""
    return f"AskUserQuestion {first.header or first.question}{more}"


def ask_user_question_tool() -> Tool[AskUserQuestionInput]:
    """Return the tool."""
    return build_tool(
        name="AskUserQuestion",
        description=DESCRIPTION,
        input_model=AskUserQuestionInput,
        run=_run,
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        requires_user_interaction=True,
        interrupt_behavior=InterruptBehavior.CANCEL,
        identifier=_identifier,
        max_result_size_chars=50_000,
    )
