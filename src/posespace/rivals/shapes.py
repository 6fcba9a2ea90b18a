"""Shape interpolation: the posed shapes are blended, with no bones but the root."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posespace.examples import Examples
from posespace.interpolate.rbf import RBF
from posespace.rivals.plain_psd import one_layer
from posespace.skin.skin import Skin


@dataclass(frozen=True)
class ShapeInterpolation:
    """Blend shapes over the pose space. The root still carries the whole body, so that it can walk.

    Parameters
    ----------
    kernel : of the RBF, see `posespace.interpolate.RBF`
    smoothing : at least 0; above 0 contradictory examples are averaged
    """

    kernel: str = "gaussian"
    smoothing: float = 0.0

    def fit(self, examples: Examples) -> Skin:
        """Return the skin of the examples on a rig whose vertices all follow the root."""
        rig, count = examples.rig, len(examples.rig.mesh.points)
        root = int(np.flatnonzero(rig.skeleton.parents < 0)[0])
        boneless = replace(rig, influences=np.full((count, 1), root), weights=np.ones((count, 1)), blending="linear")
        moved = Examples(boneless, examples.motion, examples.shapes)
        return one_layer(moved, RBF(self.kernel, smoothing=self.smoothing), "shape interpolation", self)
