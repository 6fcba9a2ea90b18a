"""The settings of pose space deformation, checked; `sculpts.py` solves with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Self

from posespace import check
from posespace.errors import InputError
from posespace.interpolate.kernels import KERNELS
from posespace.interpolate.rbf import RBF
from posespace.poses.spaces import PoseSpace
from posespace.sculpt import EVERY, Radii

NORMALS = ("none", "shared")


@dataclass(frozen=True)
class PSDSettings:
    """Pose space deformation: sculpts are reproduced exactly, in one layer per set of joints and controls that move.

    Parameters
    ----------
    kernel : kernel of the RBF: gaussian, exponential, multiquadric, thin_plate, linear or cubic; None: multiquadric, or
        gaussian with `per_vertex`. If none of `kernel`, `radius` and `per_vertex` is given, frames of clips are
        approximated by a smooth regression per region
    radius : radius of influence of a sculpt, above 0, in radians or the controls' unit; None: that which the examples
        have for a joint or control, else chosen by leave-one-out cross-validation for each layer. In Python one number
        for all, or by name: a joint or control for its axis in every layer, a tuple of names for the layer they span,
        "*" for all others
    smoothing : smoothing of the interpolation, at least 0; above 0 the examples are only approximated, which averages
        contradictory ones
    anchor : keep the rest shape in the rest pose; a sculpt at the rest pose replaces it, with a warning
    per_vertex : each vertex interpolates over only the sculpts that moved it; only with kernel gaussian or exponential
    space : one layer over this pose space for all examples; None: one layer per set of joints and controls that move
    tolerance : a vertex whose corrections all stay below this fraction of the box diagonal is not corrected
    normals : "none": normals are computed from the posed surface; "shared": corrections of the normals, driven by the
        same coordinates as those of the points; exported files need them for correct shading
    """

    kernel: str | None = field(default=None, metadata={"choices": tuple(KERNELS)})
    radius: float | Radii | None = None
    smoothing: float = 0.0
    anchor: bool = True
    per_vertex: bool = False
    space: PoseSpace | None = None
    tolerance: float = 5e-7
    normals: str = field(default="none", metadata={"choices": NORMALS})

    def __post_init__(self) -> None:
        RBF(self.kernel_used, smoothing=self.smoothing)
        if self.space is not None and not isinstance(self.space, PoseSpace):
            raise InputError(
                f'space: expected a pose space, e.g. ps.PoseSpace("joint", ("elbow",)), got {self.space!r}'
            )
        if not 0 <= check.number("tolerance", self.tolerance) < 1:
            raise InputError(f"tolerance: expected at least 0 and below 1, got {self.tolerance}")
        check.choice("normals", self.normals, NORMALS)
        if self.per_vertex and self.kernel_used not in ("gaussian", "exponential"):
            raise InputError(f"per_vertex: expected the kernel gaussian or exponential, got {self.kernel!r}")
        if isinstance(self.radius, Mapping):
            # A copy: the settings stay as they are when the caller's mapping changes.
            object.__setattr__(self, "radius", dict(self.radius))
        for name, value in self.radii.items():
            whose = "" if name == EVERY else f" of {name!r}"
            if not (isinstance(value, Real) and 0 < value < math.inf):
                raise InputError(f"radius{whose}: expected a finite number above 0, got {value!r}")

    @property
    def kernel_used(self) -> str:
        """The kernel that was given, or the default."""
        return self.kernel or ("gaussian" if self.per_vertex else "multiquadric")

    @property
    def open_to_clips(self) -> bool:
        """Whether frames of clips may be fitted separately: no setting was given that concerns all poses."""
        return self.kernel is None and self.space is None and not self.per_vertex and not self.radii

    @property
    def radii(self) -> dict[str | tuple[str, ...], float]:
        """The given radii by name; names that span a layer are sorted."""
        if self.radius is None:
            return {}
        radii = self.radius if isinstance(self.radius, Mapping) else {EVERY: self.radius}
        return {name if isinstance(name, str) else tuple(sorted(name)): value for name, value in radii.items()}

    def with_radii(self, radii: Radii) -> Self:
        """Return the settings with these radii, unless a radius was given: that wins over what examples have."""
        return replace(self, radius=radii) if radii and self.radius is None else self

    def radii_in(self, layer: Sequence[str], axes: Sequence[str]) -> list[float | None]:
        """Return the radius along each axis of the layer that the names `layer` span; None where it is chosen."""
        radii = self.radii
        of_layer = radii.get(tuple(sorted(layer)))
        if of_layer is not None:
            return [of_layer] * len(axes)
        return [radii.get(axis, radii.get(axis.rpartition(".")[0], radii.get(EVERY))) for axis in axes]
