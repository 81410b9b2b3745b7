"""Converts a model's answer to JSON values and back."""

from __future__ import annotations

from collections.abc import Mapping

from agent.library.base.raw_items import DictItem, InputItem, RawItem, as_json
from agent.library.base.run_usage import usage_of, usage_to_json
from agent.library.items.run_items import ModelResponse


def response_json(response: ModelResponse) -> dict[str, RawItem]:
    """Return an answer as JSON values."""
    return {
        "output": [as_json(each) for each in response.output],
        "usage": usage_to_json(response.usage),
        "response_id": response.response_id,
        "request_id": response.request_id,
        "stop_reason": response.stop_reason,
    }


def read_model_response(data: Mapping[str, RawItem]) -> ModelResponse:
    """Restore an answer from the values that `response_json` returned."""
    output: list[InputItem] = [DictItem(each) for each in data["output"]]
    return ModelResponse(
        output,
        usage_of(data["usage"]),
        data["response_id"],
        data["request_id"],
        stop_reason=data.get("stop_reason"),
    )
