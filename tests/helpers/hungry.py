"""Tetrahedra whose simulation runs out of memory. A file of its own, because workers import it by name."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse

from posespace.simulation.mesh.tetmesh import TetMesh


class Hungry(TetMesh):
    """Tetrahedra that take a gigabyte to be solved."""

    def embedding(self, order: int = 1) -> sparse.csr_array[Any]:
        eaten = np.ones(130_000_000)
        time.sleep(20)
        taken: sparse.csr_array[Any] = super().embedding(order) * eaten[0]
        return taken
