"""The blocks of the transcript by position and key, and the first changed one. Pure."""

from __future__ import annotations

from collections.abc import Collection

from tui.transcript.blocks import Block


class BlockList:
    """A list of blocks, which are frozen: a changed block is replaced by another object."""

    def __init__(self) -> None:
        """Start empty."""
        self.blocks: list[Block] = []
        self._index: dict[str, int] = {}
        """Positions by key, relative to the block that was the first when `_origin` was 0."""
        self._origin = 0
        self._uids: dict[str, list[str]] = {}
        self._counter = 0
        self._first_changed: int | None = None
        self._added_before = 0

    def take_added_before(self) -> int:
        """Return the number of blocks that were added at the front since the last call."""
        count, self._added_before = self._added_before, 0
        return count

    def add_before(self, older: BlockList) -> None:
        """Add the blocks of another list at the front, with their messages.

        Blocks whose key exists already are skipped: the existing ones are newer.
        """
        new = [block for block in older.blocks if block.key not in self._index]
        self.blocks[0:0] = new
        # The cost depends only on the number of new blocks.
        self._origin += len(new)
        for position, block in enumerate(new):
            self._index[block.key] = position - self._origin
        for uid, keys in older._uids.items():
            self._uids.setdefault(uid, keys)
        self._added_before += len(new)
        if self._first_changed is not None:
            self._first_changed += len(new)
        # The gap before the former first block may change.
        self._mark(len(new))

    def take_first_changed(self) -> int | None:
        """Return the index of the first block changed since the last call; None if none was."""
        first, self._first_changed = self._first_changed, None
        return first

    def clear(self) -> None:
        """Remove all blocks; keys made from now on are still new."""
        self.blocks.clear()
        self._index.clear()
        self._origin = 0
        self._uids.clear()
        self._first_changed = 0
        self._added_before = 0

    def __contains__(self, key: str) -> bool:
        """Return whether there is a block with this key."""
        return key in self._index

    def get(self, key: str) -> Block | None:
        """Return the block with this key; None without one."""
        position = self._index.get(key)
        return None if position is None else self.blocks[position + self._origin]

    def append(self, block: Block) -> None:
        """Add a block at the end."""
        self._index[block.key] = len(self.blocks) - self._origin
        self.blocks.append(block)
        self._mark(len(self.blocks) - 1)

    def insert_after(self, key: str, block: Block) -> None:
        """Add a block after the one with this key; at the end if there is none."""
        position = self._index.get(key, len(self.blocks) - 1 - self._origin) + 1 + self._origin
        if position == len(self.blocks):
            self.append(block)
            return
        self.blocks.insert(position, block)
        self._number()
        self._mark(position)

    def append_if_new(self, block: Block) -> bool:
        """Add a block unless its key exists; return whether it was added."""
        if block.key in self._index:
            return False
        self.append(block)
        return True

    def replace(self, block: Block) -> None:
        """Replace the block that has the same key."""
        self.put(self._index[block.key] + self._origin, block)

    def put(self, position: int, block: Block) -> None:
        """Replace the block at a position, which has the same key."""
        self.blocks[position] = block
        self._mark(position)

    def remove(self, keys: Collection[str]) -> None:
        """Remove blocks; unknown keys are ignored."""
        positions = [self._index[key] + self._origin for key in keys if key in self._index]
        if not positions:
            return
        self.blocks = [block for block in self.blocks if block.key not in keys]
        self._number()
        self._mark(min(positions))

    # Messages and their blocks

    def knows_message(self, uid: str) -> bool:
        """Whether blocks of a message were recorded."""
        return uid in self._uids

    def remember(self, uid: str, key: str) -> None:
        """Record that a block belongs to a message."""
        keys = self._uids.setdefault(uid, [])
        if key not in keys:
            keys.append(key)

    def keys_of(self, uid: str) -> tuple[str, ...]:
        """Return the keys of a message's blocks."""
        return tuple(self._uids.get(uid, ()))

    def forget_message(self, uid: str) -> None:
        """Remove a message's blocks."""
        self.remove(set(self._uids.pop(uid, ())))

    # Keys

    def fresh_key(self, prefix: str) -> str:
        """Return a key that was never used."""
        self._counter += 1
        return f"{prefix}#{self._counter}"

    def unique_key(self, key: str) -> str:
        """Return the key, or a new one if it exists."""
        return self.fresh_key(key) if key in self._index else key

    def _number(self) -> None:
        self._origin = 0
        self._index = {block.key: position for position, block in enumerate(self.blocks)}

    def _mark(self, position: int) -> None:
        if self._first_changed is None or position < self._first_changed:
            self._first_changed = position
