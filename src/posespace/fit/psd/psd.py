"""Pose space deformation: sculpts interpolated over the poses they were made for. The settings; `sculpts.py` solves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

from posespace import check
from posespace.errors import InputError
from posespace.examples import Examples, require_examples
from posespace.interpolate.rbf import RBF
from posespace.skin import Skin
from posespace.spaces import PoseSpace

EVERY = "*"
Falloffs = Mapping[str | tuple[str, ...], float]


@dataclass(frozen=True)
class PSD:
    """Examples that move the same controls make a layer, and each layer corrects what those before it leave.

    Parameters
    ----------
    kernel : of the RBF: gaussian, exponential, multiquadric, thin_plate, linear or cubic
    falloff : how far a sculpt reaches, above 0, in radians or the controls' unit; what is not given is chosen from the
        examples of each layer by leave-one-out. In Python a number for all; or by name: of a joint or control in every
        layer (axis-stretched), a tuple of names for the layer they span, "*" for the rest
    smoothing : at least 0; above 0 the examples are only come close to, which calms contradictory ones
    anchor : hold the rest shape in the rest pose; a sculpt that is at the rest pose is met instead, with a warning
    per_vertex : a vertex interpolates over just the sculpts that moved it; kernels gaussian and exponential
    space : one layer over this pose space for all examples; None: layers by the controls that the examples move
    tolerance : a vertex whose corrections all stay below this part of the box diagonal is left out
    """

    kernel: str = "gaussian"
    falloff: float | Falloffs | None = None
    smoothing: float = 0.0
    anchor: bool = True
    per_vertex: bool = False
    space: PoseSpace | None = None
    tolerance: float = 5e-7

    def __post_init__(self) -> None:
        RBF(self.kernel, smoothing=self.smoothing)
        if self.space is not None and not isinstance(self.space, PoseSpace):
            raise InputError(f'space: expected a pose space, as ps.PoseSpace("joint", ("elbow",)), got {self.space!r}')
        if not 0 <= check.number("tolerance", self.tolerance) < 1:
            raise InputError(f"tolerance: expected from 0 to 1, got {self.tolerance}")
        if self.per_vertex and self.kernel not in ("gaussian", "exponential"):
            raise InputError(f"per_vertex: expected the kernel gaussian or exponential, got {self.kernel!r}")
        if isinstance(self.falloff, Mapping):
            # A copy: the settings stay as they are when the caller's mapping changes.
            object.__setattr__(self, "falloff", dict(self.falloff))
        for name, value in self.falloffs.items():
            whose = "" if name == EVERY else f" of {name!r}"
            if not (isinstance(value, Real) and 0 < value < math.inf):
                raise InputError(f"falloff{whose}: expected a finite number above 0, got {value!r}")

    @property
    def falloffs(self) -> dict[str | tuple[str, ...], float]:
        """The falloff by name; the names that span a layer are sorted."""
        if self.falloff is None:
            return {}
        given = self.falloff if isinstance(self.falloff, Mapping) else {EVERY: self.falloff}
        return {name if isinstance(name, str) else tuple(sorted(name)): value for name, value in given.items()}

    def falloffs_in(self, layer: Sequence[str], axes: Sequence[str]) -> list[float | None]:
        """Return the falloff along each axis of the layer that the names `layer` span; None where it is chosen."""
        given = self.falloffs
        whole = given.get(tuple(sorted(layer)))
        if whole is not None:
            return [whole] * len(axes)
        return [given.get(axis, given.get(axis.rpartition(".")[0], given.get(EVERY))) for axis in axes]

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        from posespace.fit.psd.sculpts import Sculpts

        require_examples(examples)
        sculpts = Sculpts(examples.rig, self)
        for name, (pose, shape) in zip(examples.motion.names, examples, strict=True):
            sculpts.add(name, pose, shape)
        return sculpts.skin()
