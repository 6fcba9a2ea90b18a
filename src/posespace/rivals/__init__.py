"""The methods that the papers compare with: `Examples` in, a `Skin` or something that poses like one out."""

from __future__ import annotations

from typing import Protocol

from posespace.errors import InputError
from posespace.examples import Examples
from posespace.rivals.arap import NearestRigid
from posespace.rivals.bones import DualQuaternions, PlainSkinning
from posespace.rivals.cardinal import LinearRadial
from posespace.rivals.height_maps import RegressedHeights, StaticMap
from posespace.rivals.linear import LinearPoseShapes
from posespace.rivals.meshik import MeshIK
from posespace.rivals.plain_psd import PlainPSD
from posespace.rivals.shapes import ShapeInterpolation
from posespace.rivals.shepard import ShepardCorrections
from posespace.rivals.weighted import WeightedPSD
from posespace.skin.skin import Posable, Skin

__all__ = ["Method", "fit_all", "height_rivals", "point_rivals", "rivals"]


class Method(Protocol):
    """Settings that fit examples."""

    def fit(self, examples: Examples) -> Posable:
        """Return what was learned."""
        ...


def rivals(smoothing: float = 0.0) -> dict[str, Method]:
    """Return every rival by name; `smoothing` above 0 is for examples that lie close together, e.g. frames."""
    return {
        "plain skinning": PlainSkinning(),
        "dual quaternions": DualQuaternions(),
        "shape interpolation": ShapeInterpolation(smoothing=smoothing),
        "Shepard": ShepardCorrections(),
        "plain PSD": PlainPSD(smoothing=smoothing),
        "linear + radial": LinearRadial(smoothing),
        "weighted PSD": WeightedPSD(),
        "linear in R - I": LinearPoseShapes(),
    }


def point_rivals() -> dict[str, Method]:
    """Return the rivals driven by control points, by name; the joints of their examples must be such points."""
    return {"MESHIK": MeshIK(), "ARAP": NearestRigid()}


def height_rivals(surface: Skin) -> dict[str, Method]:
    """Return other methods for detail, by name, over a skin of control points that has none."""
    return {
        "static map": StaticMap(surface),
        "cascade": RegressedHeights(surface, "bones"),
        "all points": RegressedHeights(surface, "points"),
    }


def fit_all(methods: dict[str, Method], examples: Examples) -> dict[str, Posable | InputError]:
    """Fit each method; one that cannot be fitted to these examples gives its reason instead."""
    fitted: dict[str, Posable | InputError] = {}
    for name, method in methods.items():
        try:
            fitted[name] = method.fit(examples)
        except InputError as error:
            fitted[name] = error
    return fitted
