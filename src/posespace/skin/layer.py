"""Layer: displacements of some vertices in the rest shape, and the driver that gives their coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from posespace import check
from posespace.check import Ints
from posespace.errors import InputError
from posespace.skin.basis import Basis, PackedBasis, checked_basis
from posespace.skin.driver import Driver


@dataclass(frozen=True, eq=False)
class Layer:
    """Displacements of some vertices, driven by a pose space and added in the rest shape.

    Parameters
    ----------
    name : of its joints, controls or region
    driver : pose to coordinates (C,)
    support : (S,) int32, the vertices it moves, ascending
    basis : (C, S, 3) the displacement of each vertex per unit of each coordinate, as an array or packed
    normal_basis : (C, S, 3) or None, the same for the rest normals
    normal_driver : the driver of `normal_basis`; None: `driver`
    """

    name: str
    driver: Driver
    support: Ints
    basis: Basis
    normal_basis: Basis | None = None
    normal_driver: Driver | None = None

    def __post_init__(self) -> None:
        support = check.indices(f"layer {self.name!r} support", self.support, ("S",), below=2**31)
        if (np.diff(support) <= 0).any():
            raise InputError(f"layer {self.name!r} support: expected ascending vertices, each once")
        object.__setattr__(self, "support", support)
        shape = (self.driver.components, len(support), 3)
        object.__setattr__(self, "basis", checked_basis(f"layer {self.name!r} basis", self.basis, shape))
        if self.normal_basis is not None:
            count = (self.normal_driver or self.driver).components
            normal = checked_basis(f"layer {self.name!r} normal_basis", self.normal_basis, (count, *shape[1:]))
            object.__setattr__(self, "normal_basis", normal)
        elif self.normal_driver is not None:
            raise InputError(f"layer {self.name!r}: it has a normal driver but no normal basis")

    def packed(self, bits: int) -> Layer:
        """Return the layer with its bases packed in 32, 16 or 8 bits per number."""
        normal = None if self.normal_basis is None else PackedBasis.pack(np.asarray(self.normal_basis), bits)
        return replace(self, basis=PackedBasis.pack(np.asarray(self.basis), bits), normal_basis=normal)

    def truncated(self, components: int, truncate: Callable[[Driver], Driver]) -> Layer:
        """Return the layer with at most its first `components` (at least 1); `truncate` does the same to a driver."""
        normal = None if self.normal_basis is None else self.normal_basis[:components]
        normal_driver = None if self.normal_driver is None else truncate(self.normal_driver)
        return Layer(self.name, truncate(self.driver), self.support, self.basis[:components], normal, normal_driver)
