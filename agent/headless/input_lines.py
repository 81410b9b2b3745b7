"""Read the lines of `--input-format stream-json`: queue prompts, handle control at once."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import select
import stat
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from msgspec.structs import replace

from agent.conversation.conversation import Conversation
from agent.errors import UsageError
from agent.headless.control_protocol import Control
from agent.headless.introduction import Introduction
from agent.user_prompt import Prompt
from permissions.base.text.strict_json import load_json

MAX_LINE_BYTES: Final = 10_000_000
MAX_WAITING: Final = 100
"""Lines that are read ahead; control lines after more than that have to wait."""
_EXPECTED: Final = 'expected {"type": "user", "message": {"role": "user", "content": …}}'
_PASSED_OVER: Final = frozenset({"keep_alive", "control_cancel_request"})
"""Lines that need no answer."""


class StreamInput:
    """Reads standard input while prompts run, so that a run can be interrupted and answered."""

    def __init__(
        self, descriptor: int, control: Control, *, output: int, warn: Callable[[str], None]
    ) -> None:
        """Read nothing before `begin`. Once `output` is closed, nothing is sent or answered.

        `warn` receives a sentence about lines that are passed over.
        """
        self._warn = warn
        self._passed_over: set[str] = set()
        """Types of the lines that a warning named."""
        self._descriptor = descriptor
        self._output = output
        self._is_read = True
        self._control = control
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(MAX_WAITING)
        """How many lines the thread may still read ahead."""
        self._prompts: asyncio.Queue[Prompt | Exception | None] = asyncio.Queue(MAX_WAITING)
        self._waiting_prompts: dict[str, Prompt] = {}
        """The queued prompts that have a sender's id, by that id."""
        control.waiting_prompts = self._waiting_prompts
        self._stop = asyncio.Event()
        self._has_no_end = _holds_both_ends(descriptor)
        """Whether the input never ends; the run then ends when all work is done."""
        self._ahead: list[bytes | None] = []
        """Lines that were read ahead and not handled yet."""

    def begin(self) -> None:
        """Start to read lines."""
        loop = asyncio.get_running_loop()
        # A thread can read files, devices and pipes shared with others; as a daemon it may stay
        # blocked when the program exits.
        for work_of_thread in (self._read, self._watch_output):
            threading.Thread(target=work_of_thread, args=(loop,), daemon=True).start()

    async def introduction(self) -> tuple[Mapping[str, object], Introduction] | None:
        """Return the first line and its content, if it is an `initialize` request.

        Otherwise return None, and leave the line to `prompts`.

        Raises:
            IntroductionError: the request cannot be honored.
        """
        coming = asyncio.ensure_future(self._lines.get())
        stop_wait = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({coming, stop_wait}, return_when=asyncio.FIRST_COMPLETED)
        stop_wait.cancel()
        if not coming.done():
            coming.cancel()
            return None
        line = coming.result()
        with contextlib.suppress(ValueError):
            value = parsed_line((line or b"").decode("utf-8", "replace"))
            introduction = self._control.read(value)
            if introduction is not None:
                self._room.release()
                return value, introduction
        self._ahead.append(line)
        return None

    def stop(self) -> None:
        """End the prompts: none follows the running one."""
        self._stop.set()

    async def prompts(
        self, conversation: Conversation, first: Prompt | None = None
    ) -> AsyncIterator[Prompt]:
        """Yield each prompt; control lines are handled meanwhile, even while a prompt runs.

        `first` precedes the prompts in the lines.

        Raises:
            UsageError: a line is neither; the lines before it were handled.
            OSError: a response to a control line could not be written, or its reader has exited.
        """
        if first is not None:
            self._prompts.put_nowait(first)
        work = asyncio.ensure_future(self._dispatch_lines(conversation))
        stop_wait = asyncio.ensure_future(self._stop.wait())
        try:
            while not self._stop.is_set():
                if self._has_no_end and (next_prompt := conversation.prompt_queue.take_next()):
                    yield next_prompt
                    continue
                if self._has_no_end and self._lines.empty() and self._prompts.empty():
                    return
                coming = asyncio.ensure_future(self._prompts.get())
                await asyncio.wait({coming, stop_wait}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    break
                match coming.result():
                    case None:
                        return
                    case Exception() as error:
                        raise error
                    case prompt:
                        if (
                            prompt.sender_id
                            and self._waiting_prompts.pop(prompt.sender_id, None) is None
                        ):
                            continue  # its sender withdrew it
                        yield prompt
            if not self._is_read:
                raise BrokenPipeError(errno.EPIPE, "the output is no longer read")
        finally:
            self._control.close()
            for task in (work, stop_wait):
                task.cancel()
            await asyncio.wait({work, stop_wait})

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Queue each line, and None at the end. Runs in its own thread."""
        rest = b""
        while True:
            try:
                piece = os.read(self._descriptor, 65536)
            except OSError:
                piece = b""
            *lines, rest = (rest + piece).split(b"\n")
            if not piece or len(rest) > MAX_LINE_BYTES:
                lines.append(rest)
            try:
                for line in lines:
                    self._room.acquire()
                    loop.call_soon_threadsafe(self._lines.put_nowait, line)
                if not piece or len(rest) > MAX_LINE_BYTES:
                    loop.call_soon_threadsafe(self._lines.put_nowait, None)
                    return
            except RuntimeError:
                return  # the run is over

    def _watch_output(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait until the other side has closed its end. Runs in its own thread.

        Without it, code that waits for a response and writes nothing would not notice.
        """
        watch = select.poll()
        watch.register(self._output, 0)
        with contextlib.suppress(OSError, RuntimeError):  # closed, or the run is over
            watch.poll()
            loop.call_soon_threadsafe(self._on_output_closed)

    def _on_output_closed(self) -> None:
        self._is_read = False
        self._control.close()
        self.stop()

    async def _dispatch_lines(self, conversation: Conversation) -> None:
        """Handle control lines and queue prompts, in the order of their arrival."""
        try:
            while (line := await self._next_line()) is not None:
                self._room.release()
                prompt = await self._handle_line(line, conversation)
                if prompt is not None and self._joins(prompt, conversation):
                    conversation.prompt_queue.add(prompt)
                elif prompt is not None:
                    if prompt.sender_id:
                        self._waiting_prompts[prompt.sender_id] = prompt
                    await self._prompts.put(prompt)
        except ValueError as error:
            await self._prompts.put(UsageError(f"input line: {error}"))
        except Exception as error:  # noqa: BLE001 - the reader of prompts receives it
            await self._prompts.put(error)
        self._control.close()
        await self._prompts.put(None)

    def _joins(self, prompt: Prompt, conversation: Conversation) -> bool:
        """Whether a prompt joins the running turn, with its next tool results."""
        is_text = not prompt.text.startswith("/")
        return self._has_no_end and is_text and conversation.view.is_running

    async def _next_line(self) -> bytes | None:
        return self._ahead.pop(0) if self._ahead else await self._lines.get()

    async def _handle_line(self, line: bytes, conversation: Conversation) -> Prompt | None:
        if len(line) > MAX_LINE_BYTES:
            raise ValueError(f"longer than {MAX_LINE_BYTES // 1_000_000} MB")
        text = line.decode("utf-8", "replace").strip()
        if not text:
            return None
        value = parsed_line(text)
        match value.get("type"):
            case "control_request":
                await self._control.serve(conversation, value)
            case "control_response":
                self._control.accept_response(value)
            case str() as kind if kind in _PASSED_OVER:
                pass
            case str() as kind if kind != "user":
                self._pass_over(kind)
            case _:
                return prompt_of(value)
        return None

    def _pass_over(self, kind: str) -> None:
        """Report a type of line that has no effect, once: newer clients may send more types."""
        if kind not in self._passed_over:
            self._passed_over.add(kind)
            self._warn(f"Input lines of the type {kind[:80]!r} have no effect in this version.")


def _holds_both_ends(descriptor: int) -> bool:
    """Whether input is a pipe that this process has open for writing too, so it never ends."""
    try:
        is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
        return is_pipe and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR
    except OSError:
        return False


def parsed_line(text: str) -> Mapping[str, object]:
    """Return the object that a line contains.

    Raises:
        ValueError: it contains no object; the text states what is expected.
    """
    try:
        value = load_json(text)
    except ValueError as error:
        raise ValueError(f"not JSON ({error}); {_EXPECTED}") from error
    if not isinstance(value, dict):
        raise ValueError(f"not a user message; {_EXPECTED}")
    return value


def prompt_of(value: Mapping[str, object]) -> Prompt:
    """Return the prompt of a user message.

    Raises:
        ValueError: it is not a user message; the text states what is expected.
    """
    message = value.get("message")
    if not isinstance(message, dict) or value.get("type") != "user":
        raise ValueError(f"not a user message; {_EXPECTED}")
    role = message.get("role", "user")
    if role != "user":
        raise ValueError(f"its message has the role {role!r}; {_EXPECTED}")
    sender_id = value.get("uuid")
    prompt = _prompt(message.get("content"), sender_id if isinstance(sender_id, str) else "")
    origin = value.get("origin")
    if isinstance(origin, dict):
        prompt = replace(prompt, origin=origin)
    if not prompt.text.strip() and not prompt.blocks:
        raise ValueError(f"its content is empty; {_EXPECTED}")
    return prompt


def _prompt(content: object, sender_id: str) -> Prompt:
    if isinstance(content, str):
        return Prompt(content, sender_id=sender_id)
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise ValueError(f"its content is neither text nor blocks; {_EXPECTED}")
    text = "".join(str(b.get("text", "")) for b in content if b.get("type") == "text")
    blocks = tuple(b for b in content if b.get("type") in {"image", "document"})
    return Prompt(text, blocks=blocks, sender_id=sender_id)
