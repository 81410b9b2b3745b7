"""`.ci/links`: the URLs that a release adds to the package's metadata."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

from tests.repo.checkout import ROOT

ADDRESS = "https://example.org/me/agent-tui"


def test_a_release_gets_the_links_of_the_place_that_builds_it(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "links", tmp_path / ".ci")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    script = tmp_path / ".ci" / "links"
    assert subprocess.run([script, "javascript:alert(1)"], check=False).returncode == 2
    subprocess.run([script, ADDRESS], check=True)
    built = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    links = built["project"].pop("urls")
    assert set(links) == {"Source", "Documentation", "Changelog", "Issues"}
    assert all(link.startswith(ADDRESS) for link in links.values())
    assert all((ROOT / link.partition("/blob/main/")[2]).exists() for link in links.values())
    assert built == tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert subprocess.run([script, ADDRESS], check=False).returncode == 1
