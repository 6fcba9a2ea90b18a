"""A skin, compiled: the fast evaluators. Each gives the numbers of `Skin.pose`, which is the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from posespace import check

if TYPE_CHECKING:
    from posespace.runtime.player import Player
    from posespace.skin.skin import Skin

BACKENDS = {"cpu": ("normals", "threads"), "gpu": ("normals", "device")}
"""The players and their options."""


def compile_skin(skin: Skin, backend: str = "cpu", **options: Any) -> Player:
    """Return a player of a skin; see `Skin.compile`."""
    known = BACKENDS[check.choice("backend", backend, tuple(BACKENDS))]
    for name in options:
        check.choice(f"option of the {backend} player", name, known)
    if backend == "gpu":
        from posespace.runtime.gpu.player import GPUPlayer

        return GPUPlayer(skin, **options)
    from posespace.runtime.cpu.player import CPUPlayer

    return CPUPlayer(skin, **options)
