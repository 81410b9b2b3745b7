"""Token usage of runs: totals, and one entry for each request."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.library.base.raw_items import RawItem, read


@dataclass
class InputTokensDetails:
    """Input tokens that were read from or written to a cache."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass
class OutputTokensDetails:
    """Output tokens that were reasoning."""

    reasoning_tokens: int = 0


@dataclass
class RequestUsage:
    """Tokens of one request."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: InputTokensDetails
    output_tokens_details: OutputTokensDetails


@dataclass
class RunUsage:
    """Tokens of a run; exported as `Usage`."""

    requests: int = 0
    input_tokens: int = 0
    input_tokens_details: InputTokensDetails = field(default_factory=InputTokensDetails)
    output_tokens: int = 0
    output_tokens_details: OutputTokensDetails = field(default_factory=OutputTokensDetails)
    total_tokens: int = 0
    request_usage_entries: list[RequestUsage] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Convert details that a server omitted, or objects of an SDK, to our types."""
        self.input_tokens_details = _input_details(self.input_tokens_details)
        self.output_tokens_details = _output_details(self.output_tokens_details)

    def add(self, other: RunUsage) -> None:
        """Add the tokens of another usage to this one."""
        self.requests += other.requests or 0
        self.input_tokens += other.input_tokens or 0
        self.output_tokens += other.output_tokens or 0
        self.total_tokens += other.total_tokens or 0
        mine, theirs = self.input_tokens_details, other.input_tokens_details
        self.input_tokens_details = InputTokensDetails(
            mine.cached_tokens + theirs.cached_tokens,
            mine.cache_write_tokens + theirs.cache_write_tokens,
        )
        self.output_tokens_details = OutputTokensDetails(
            self.output_tokens_details.reasoning_tokens
            + other.output_tokens_details.reasoning_tokens
        )
        if other.request_usage_entries:
            self.request_usage_entries.extend(other.request_usage_entries)
        elif other.requests == 1 and other.total_tokens:
            self.request_usage_entries.append(
                RequestUsage(
                    other.input_tokens,
                    other.output_tokens,
                    other.total_tokens,
                    other.input_tokens_details,
                    other.output_tokens_details,
                )
            )


def usage_of(value: RawItem) -> RunUsage:
    """Return the usage of a response of the Responses API; zeros if it has none."""
    if value is None:
        return RunUsage()
    return RunUsage(
        requests=read(value, "requests") or 1,
        input_tokens=read(value, "input_tokens") or 0,
        input_tokens_details=read(value, "input_tokens_details"),
        output_tokens=read(value, "output_tokens") or 0,
        output_tokens_details=read(value, "output_tokens_details"),
        total_tokens=read(value, "total_tokens") or 0,
    )


def usage_to_json(usage: RunUsage) -> dict[str, RawItem]:
    """Return a usage as JSON values, without the entries of single requests."""
    return {
        "requests": usage.requests,
        "input_tokens": usage.input_tokens,
        "input_tokens_details": vars(usage.input_tokens_details),
        "output_tokens": usage.output_tokens,
        "output_tokens_details": vars(usage.output_tokens_details),
        "total_tokens": usage.total_tokens,
    }


def _input_details(value: RawItem) -> InputTokensDetails:
    if isinstance(value, InputTokensDetails):
        return value
    return InputTokensDetails(
        read(value, "cached_tokens") or 0, read(value, "cache_write_tokens") or 0
    )


def _output_details(value: RawItem) -> OutputTokensDetails:
    if isinstance(value, OutputTokensDetails):
        return value
    return OutputTokensDetails(read(value, "reasoning_tokens") or 0)
