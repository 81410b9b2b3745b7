"""Pasted and dropped images: copied into the session's files, and mentioned in the prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tui.app.notices import Notices
from tui.app.session.conversation_holder import ConversationHolder
from tui.prompt.composer import Composer, insert_image

if TYPE_CHECKING:
    from tui.prompt.pasted_image import PastedImage


class ImagePaste:
    """Copies images as soon as the conversation exists, whose directory stores them."""

    def __init__(
        self,
        composer: Composer,
        conversations: ConversationHolder,
        notices: Notices,
        start_worker: Callable[[Awaitable[None]], None],
        env: Mapping[str, str],
    ) -> None:
        """`env` is the environment of the program that reads the clipboard."""
        self._composer = composer
        self._conversations = conversations
        self._notices = notices
        self._start_worker = start_worker
        self._env = env
        self._attaching = 0
        self._send: Callable[[], None] | None = None
        """Sends the draft once all images are copied; None if Enter was not pressed."""

    def take(self, text: str) -> bool:
        """Take a paste that consists of images; False if it is text for the prompt."""
        if not text:
            # Some terminals paste an empty text for an image.
            self.from_clipboard()
            return True
        if not text.lstrip().startswith(("/", "'", '"', "file:")):
            return False
        from tui.prompt.pasted_image import (
            dropped_images,  # with the first paste that looks like one
        )

        images = dropped_images(text)
        if images:
            self._attach(self._copy_dropped(images))
        return bool(images)

    def from_clipboard(self) -> None:
        """Insert the image on the clipboard."""
        self._attach(self._copy_clipboard())

    def send_later(self, send: Callable[[], None]) -> bool:
        """Return whether images are still being copied; if so, `send` is called after that."""
        if self._attaching:
            self._send = send
        return bool(self._attaching)

    def _attach(self, work: Awaitable[None]) -> None:
        self._attaching += 1
        self._start_worker(self._run_to_end(work))

    async def _run_to_end(self, work: Awaitable[None]) -> None:
        try:
            await work
        finally:
            self._attaching -= 1
        if not self._attaching and (send := self._send) is not None:
            self._send = None
            send()

    async def _directory(self) -> Path | None:
        await self._conversations.wait()
        command_service = self._conversations.commands
        return (
            command_service.context.gate.context.scratch_dir
            if command_service is not None
            else None
        )

    async def _copy_dropped(self, images: Sequence[Path]) -> None:
        from tui.prompt.pasted_image import copy_dropped_image  # as above

        directory = await self._directory()
        if directory is None:
            return
        for image in images:
            try:
                self._insert(await copy_dropped_image(directory, image))
            except OSError as error:
                self._send = None
                self._notices.warn(f"{image} cannot be attached: {error.strerror}")

    def _insert(self, image: PastedImage) -> None:
        self._composer.edit(partial(insert_image, mention=image.mention))
        self._notices.hint(f"attached: {image.label}")

    async def _copy_clipboard(self) -> None:
        directory = await self._directory()
        if directory is None:
            return
        from agent.files.clipboard_image import ClipboardUnreachable  # with the first image
        from tui.prompt.pasted_image import (  # as above
            NoClipboardImage,
            save_clipboard_image,
        )

        try:
            self._insert(await save_clipboard_image(directory, self._env))
        except NoClipboardImage:
            self._send = None
            self._notices.hint("No image in the clipboard")
        except ClipboardUnreachable as error:
            self._send = None
            self._notices.warn(
                f"The clipboard cannot be read: {error}. Or name the image's file with @."
            )
        except OSError as error:
            self._send = None
            self._notices.warn(f"the image cannot be saved: {error.strerror}")
