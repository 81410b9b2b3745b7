"""The order of confinements, and which level enforces which."""

from __future__ import annotations

import pytest

from permissions.confinement import Confinement, SandboxLevel, can_hold, widest


def test_the_widest_part_decides() -> None:
    order = [
        Confinement.READ_ONLY,
        Confinement.PROJECT,
        Confinement.PROJECT_FILES,
        Confinement.NONE,
    ]
    for index, confinement in enumerate(order):
        assert widest(order[: index + 1]) is confinement
    assert widest(()) is Confinement.READ_ONLY


@pytest.mark.parametrize(
    ("level", "held"),
    [
        (SandboxLevel.FULL, {"read_only", "project", "project_files", "none"}),
        (SandboxLevel.FILES, {"project_files", "none"}),
        (SandboxLevel.NONE, {"none"}),
    ],
)
def test_a_level_holds_only_what_it_can(level: SandboxLevel, held: set[str]) -> None:
    assert {str(one) for one in Confinement if can_hold(level, one)} == held
