"""Which rivals a skin is compared with, and on which examples they are fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from posespace.errors import InputError
from posespace.evaluation.compare import PLAIN
from posespace.examples import Examples
from posespace.fit.points.points import ControlPoints
from posespace.poses.control_points import examples_from_shapes
from posespace.poses.digests import pose_digests
from posespace.rivals import fit_all, height_rivals, point_rivals, rivals
from posespace.skin.skin import Posable, Skin

Fitted = dict[str, Posable | InputError]


def fit_rivals(skins: Iterable[Posable], examples: Examples) -> Fitted:
    """Fit the rivals of skins and return them by name; one that cannot be fitted is the error that says why.

    Those that joints drive are always fitted, except plain skinning, which every comparison has. Those that control
    points drive are fitted at the points of the first skin that has any.
    """
    by_joints = {name: method for name, method in rivals().items() if name != PLAIN}
    pointed = (skin for skin in skins if isinstance(skin, Skin) and len(skin.points))
    by_points = next((_fit_by_points(skin, examples) for skin in pointed), {})
    return fit_all(by_joints, examples) | by_points


def without_poses_of(examples: Examples, evaluated: Examples) -> Examples:
    """Return the examples whose poses are not among those that are evaluated on."""
    digests = set(pose_digests(evaluated.motion, evaluated.rig.skeleton))
    own_digests = pose_digests(examples.motion, examples.rig.skeleton)
    kept = [k for k, digest in enumerate(own_digests) if digest not in digests]
    if not kept:
        raise InputError("all its poses are evaluated on, so none is left to fit the rivals on; choose fewer")
    return examples[kept]


def _fit_by_points(skin: Skin, examples: Examples) -> Fitted:
    """The rivals that a skin's control points drive; where the examples have heights, also other methods for detail."""
    points = skin.points
    method = ControlPoints(picked=tuple(points.tolist()), bones=skin.binding.bone_count)
    driven = examples_from_shapes(examples, skin.rig, points)
    fitted = fit_all({"FKY08": replace(method, local="none"), **point_rivals()}, driven)
    if examples.heights is None:
        return fitted
    near = min(ControlPoints.near_points, len(points))
    surface = fit_all({"detail": replace(method, near_points=near)}, replace(driven, heights=None))["detail"]
    return fitted | (fit_all(height_rivals(surface), driven) if isinstance(surface, Skin) else {"detail": surface})
