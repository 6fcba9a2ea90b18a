"""Bones alone, with nothing learned: linear blending and dual quaternions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from posespace.examples import Examples
from posespace.skin.provenance import about_fit
from posespace.skin.skin import Skin


@dataclass(frozen=True)
class PlainSkinning:
    """Linear blending of the bones (skeleton subspace deformation, SSD)."""

    def fit(self, examples: Examples) -> Skin:
        """Return the rig alone."""
        return Skin(replace(examples.rig, blending="linear"), about=about_fit("plain skinning", self))


@dataclass(frozen=True)
class DualQuaternions:
    """Blending of the bones as dual quaternions (Kavan et al. 2008)."""

    def fit(self, examples: Examples) -> Skin:
        """Return the rig alone, blended as dual quaternions."""
        return Skin(replace(examples.rig, blending="dual_quaternion"), about=about_fit("dual quaternions", self))
