"""Poses and shapes carried elsewhere: to the other side of a rig, or onto another skeleton by joint name."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check, rotations
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.mesh import Mesh
from posespace.pose import Motion
from posespace.skeleton import Skeleton, invert_affine, other_side


def mirror(motion: Motion, skeleton: Skeleton, normal: ArrayLike = (1.0, 0.0, 0.0)) -> Motion:
    """Mirror poses across the plane with this `normal` (3,): the left hand does what the right one did.

    Joints are matched by name (``_L``/``_R``, ``Left``/``Right``); each one turns from its rest as the reflection of
    how its counterpart turned. Controls named for a side change sides too. The skeleton's rest pose should itself be
    symmetric.
    """
    reflect = _reflection(normal)
    turn, shift, names = *_turns(motion, skeleton), motion.control_names
    other = skeleton.counterparts
    if len(skeleton) > 1 and (other == np.arange(len(skeleton))).all():
        raise InputError("mirror: no joint has a counterpart on the other side by its name (_L/_R, Left/Right)")
    sides = [other_side(name) for name in names]
    swap = [names.index(side) if side in names else k for k, side in enumerate(sides)]
    kept = tuple(name if side in names else side for name, side in zip(names, sides, strict=True))
    return _pose_by_turns(
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
    tolerance : how far from its mirror image a vertex may rest, as a part of the box diagonal
    """
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


def onto(motion: Motion, source: Skeleton, target: Skeleton) -> Motion:
    """Carry poses of the skeleton `source` onto `target`: joints of one name turn alike in the world, from rest.

    The two may have other axes (y up, z up), units and rest rotations: axes and unit are found from where the common
    joints rest. Joints of `target` that `source` lacks keep their rest rotation.
    """
    common = [name for name in target.names if name in set(source.names)]
    if not common:
        raise InputError(
            f"motion: none of its joints ({', '.join(source.names[:4])}, ...) is in the skeleton "
            f"({', '.join(target.names[:4])}, ...)"
        )
    to = [target.index(name) for name in common]
    of = [source.index(name) for name in common]
    axes, unit = _alignment(source.rest_world[of, :3, 3], target.rest_world[to, :3, 3])
    given_turn, given_shift = _turns(motion, source)
    turn = np.tile(np.eye(3), (len(motion), len(target), 1, 1))
    shift = np.zeros((len(motion), len(target), 3))
    turn[:, to] = axes @ given_turn[:, of] @ axes.T
    shift[:, to] = unit * given_shift[:, of] @ axes.T
    free = np.isin(np.arange(len(target)), to, invert=True)
    return _pose_by_turns(target, turn, shift, motion, free)


def _turns(motion: Motion, skeleton: Skeleton) -> tuple[Floats, Floats]:
    """World rotations from rest (P, J, 3, 3), scale left out, and world shifts (P, J, 3) of each joint."""
    rest = _world_axes(skeleton, rotations.matrices(skeleton.rest_rotations)[None])
    posed = _world_axes(skeleton, rotations.matrices(motion.rotations))
    shift = (_shift_axes(skeleton, motion.rotations) @ motion.translations[..., None])[..., 0]
    return posed @ np.swapaxes(rest, -1, -2), shift


def _pose_by_turns(
    skeleton: Skeleton, turn: Floats, shift: Floats, like: Motion, free: NDArray[np.bool_] | None = None
) -> Motion:
    """The motion whose joints turn from rest by `turn` in the world; those marked in `free` follow their parents."""
    frames = _frame_axes(skeleton)
    rest_local = rotations.matrices(skeleton.rest_rotations)
    rest = _world_axes(skeleton, rest_local[None])[0]
    world = turn @ rest
    for joint in skeleton.order:
        if free is not None and free[joint]:
            parent = skeleton.parents[joint]
            above = world[:, parent] if parent >= 0 else np.eye(3)
            world[:, joint] = above @ frames[joint] @ rest_local[joint]
    base = np.swapaxes(_above(skeleton, world) @ frames, -1, -2)
    local = rotations.from_matrices(base @ world)
    moved = (invert_affine(_shift_axes(skeleton, local)) @ shift[..., None])[..., 0]
    return Motion(local, moved, like.times, like.names, like.controls, like.control_names)


def _shift_axes(skeleton: Skeleton, local: Floats) -> Floats:
    """What takes a joint's shift (3,) to the world, (P, J, 3, 3): its parent's axes and its frame, scale included."""
    return _above(skeleton, skeleton.world(local)[..., :3, :3]) @ skeleton.frames[:, :3, :3]


def _above(skeleton: Skeleton, world: Floats) -> Floats:
    """The world axes (P, J, 3, 3) of each joint's parent."""
    above = np.tile(np.eye(3), (*world.shape[:2], 1, 1))
    child = skeleton.parents >= 0
    above[:, child] = world[:, skeleton.parents[child]]
    return above


def _frame_axes(skeleton: Skeleton) -> Floats:
    return rotations.matrices(rotations.polar(skeleton.frames[:, :3, :3].astype(np.float64))[0])


def _world_axes(skeleton: Skeleton, local: Floats) -> Floats:
    world = _frame_axes(skeleton) @ local
    for joint in skeleton.order:
        parent = skeleton.parents[joint]
        if parent >= 0:
            world[:, joint] = world[:, parent] @ world[:, joint]
    return world


def _alignment(source: Floats, target: Floats) -> tuple[Floats, float]:
    """The turn of the axes (3, 3), one of the 24 that map axes to axes, and the unit that bring `source` to `target`.

    Whole axes only: two rest poses may differ (arms down, arms out), and a free rotation would pass that on.
    """
    a, b = source - source.mean(axis=0), target - target.mean(axis=0)
    spread = float(np.sqrt((a**2).sum()))
    if spread == 0 or not (b**2).sum():
        return np.eye(3), 1.0
    turns = [
        np.eye(3)[list(order)] * np.array(signs)[:, None]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
    ]
    proper = [turn for turn in turns if np.linalg.det(turn) > 0]
    # The identity stands first, so that a tie leaves the axes as they are.
    best = max(proper, key=lambda turn: round(float(((a @ turn.T) * b).sum()) / spread**2, 9))
    return best, float(np.sqrt((b**2).sum())) / spread
