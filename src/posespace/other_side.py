"""Poses and shapes mirrored to the other side of a rig."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples, require_examples
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.skeleton import Skeleton, other_side
from posespace.world_turns import pose_by_turns, world_turns


def mirror(motion: Motion, skeleton: Skeleton, normal: ArrayLike = (1.0, 0.0, 0.0)) -> Motion:
    """Mirror poses across the plane with this `normal` (3,): the left hand does what the right one did.

    Joints are matched by name (``_L``/``_R``, ``Left``/``Right``); each one turns from its rest as the reflection of
    how its counterpart turned. Controls named for a side change sides too. The skeleton's rest pose should itself be
    symmetric.
    """
    check.kind("motion", motion, Motion)
    check.kind("skeleton", skeleton, Skeleton)
    reflect = _reflection(normal)
    turn, shift, names = *world_turns(motion, skeleton), motion.control_names
    other = skeleton.counterparts
    if len(skeleton) > 1 and (other == np.arange(len(skeleton))).all():
        raise InputError("mirror: no joint has a counterpart on the other side by its name (_L/_R, Left/Right)")
    sides = [other_side(name) for name in names]
    swap = [names.index(side) if side in names else k for k, side in enumerate(sides)]
    kept = tuple(name if side in names else side for name, side in zip(names, sides, strict=True))
    return pose_by_turns(
        skeleton,
        reflect @ turn[:, other] @ reflect,
        shift[:, other] @ reflect,
        Motion(motion.rotations, motion.translations, motion.times, motion.names, motion.controls[:, swap], kept),
    )


def mirror_examples(examples: Examples, normal: ArrayLike = (1.0, 0.0, 0.0), tolerance: float = 1e-3) -> Examples:
    """Mirror poses, as `mirror` does, and shapes: a sculpt of the left side becomes one of the right, names too.

    Each vertex takes the reflected displacement of the vertex that rests where its mirror image is, across the middle
    of the rest shape's box. That is done in the rest shape, and the result is posed.

    Parameters
    ----------
    normal : (3,) of the mirror plane
    tolerance : how far from its mirror image a vertex may rest, as a fraction of the box diagonal
    """
    require_examples(examples)
    rig, reflect = examples.rig, _reflection(normal)
    partner = _partners(rig.mesh, reflect, tolerance)
    turned = mirror(examples.motion, rig.skeleton, normal)
    names = tuple(other_side(name) for name in turned.names)
    motion = Motion(turned.rotations, turned.translations, turned.times, names, turned.controls, turned.control_names)
    shapes = [rig.skin(pose, examples.residual(k)[0][partner] @ reflect) for k, pose in enumerate(motion)]
    return Examples.from_shapes(rig, motion, shapes)


def _reflection(normal: ArrayLike) -> Floats:
    unit = check.floats("mirror normal", normal, (3,)).astype(np.float64)
    length = float(np.linalg.norm(unit))
    if length == 0:
        raise InputError("mirror normal: expected a direction, got (0, 0, 0)")
    return np.eye(3) - 2 * np.outer(unit, unit) / length**2


def _partners(mesh: Mesh, reflect: Floats, tolerance: float) -> Ints:
    """The vertex (N,) that rests nearest the mirror image of each vertex; vertices that share a place share it."""
    from scipy.spatial import KDTree

    weld, middle = mesh.weld, mesh.box.astype(np.float64).mean(axis=0)
    places = mesh.points[weld.first].astype(np.float64)
    found = KDTree(places).query((places - middle) @ reflect + middle)
    off, nearest = np.asarray(found[0]), np.asarray(found[1])
    worst = int(off.argmax())
    if off[worst] > tolerance * mesh.diagonal:
        raise InputError(
            f"mirror: the rest shape is not symmetric: vertex {weld.first[worst]} rests {off[worst]:.3g} from a mirror "
            f"image, {off[worst] / mesh.diagonal:.2g} of the box; give another normal or a tolerance above that"
        )
    if len(np.unique(nearest)) < len(nearest):
        raise InputError("mirror: the rest shape is not symmetric: two vertices have the same mirror image")
    return np.asarray(weld.first[nearest][weld.groups])
