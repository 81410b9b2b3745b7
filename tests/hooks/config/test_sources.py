"""Files of hooks that somebody named."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from hooks.config.sources import read_settings_file
from hooks.config.spec import HookSource


def test_settings_may_be_what_a_program_writes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=('{"Stop": []}',))
    writer.start()
    layer = read_settings_file(pipe, HookSource.POLICY)
    writer.join()
    assert (layer.settings, layer.file) == ({"hooks": {"Stop": []}}, str(pipe))
