"""Virtual bones: shapes in correspondence become examples with a rig, which linear blending nearly reproduces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.fit.bones.bone_weights import bone_centres
from posespace.fit.bones.clusters import cluster_transforms, cluster_triangles, refined_clusters
from posespace.fit.bones.corners import corner_weights, corners_around
from posespace.fit.bones.mean_shift import mean_shift_patches
from posespace.fit.bones.normalised import Normalised, normalised
from posespace.fit.bones.refine import ROUNDS, Bones, initial_bones, refine
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton

STILL = 1e-7
"""Shapes that differ from the rest shape by no more, as a fraction of the largest coordinate, are the rest shape."""


def bones(
    shapes: Examples | Sequence[Mesh] | ArrayLike,
    count: int | None = None,
    triangles: ArrayLike | None = None,
    influences: int = 4,
    affine: bool = False,
    rest: ArrayLike | None = None,
    bandwidth: float = 0.1,
    rounds: int = ROUNDS,
) -> Examples:
    """Return the shapes as examples with a rig of virtual bones that reproduces them as well as it can.

    The bones are parts of the surface that move nearly rigidly, and weights blend them. They have no parents, each
    rests at the centre of what it moves, and the poses have a rotation and a translation for each.

    Parameters
    ----------
    shapes : a mesh animation or a handful of shapes with the same vertices: meshes, an array (P, N, 3) with
        `triangles`, or examples, whose rest shape and names are kept and whose joints are ignored
    count : number of bones; None: one per patch of triangles with similar rotations
    triangles : (T, 3), if the shapes are an array
    influences : most bones that move a vertex, 1 to 8
    affine : bones may stretch and shear. Each is then four joints that only translate, the corners of a tetrahedron
        around what it moves, so the rig has four times as many joints and influences
    rest : (N, 3) the rest shape; None: that of the examples, or else the first shape
    bandwidth : mean-shift bandwidth relative to the spread of triangle rotations; not used with a count
    rounds : most rounds of refining transforms and weights, at least 1. Few keep each bone close to the motion of its
        own triangles, which is easier to predict in other poses; many fit the shapes more closely
    """
    check.count("rounds", rounds)
    stacked, mesh, motion = _gathered(shapes, triangles, rest)
    _check_settings(count, influences, bandwidth, mesh)
    _require_motion(stacked, mesh)
    unit = normalised(mesh.points, mesh.triangles, stacked)
    surface = (unit.points, unit.triangles, unit.shapes)
    if count is None:
        labels = refined_clusters(*surface, mean_shift_patches(*surface, bandwidth), 1)
    else:
        labels = cluster_triangles(*surface, count)
    transforms = cluster_transforms(*surface, labels, int(labels.max()) + 1)
    fitted = refine(*surface, initial_bones(*surface, labels, transforms, influences), rounds=rounds)
    if affine:
        fitted = refine(*surface, fitted, affine=True, rounds=rounds)
    return _examples(mesh, stacked, motion, unit, fitted, affine)


def _gathered(
    shapes: Examples | Sequence[Mesh] | ArrayLike, triangles: ArrayLike | None, rest: ArrayLike | None
) -> tuple[Floats, Mesh, Motion | None]:
    """The shapes (P, N, 3), the mesh of the rest shape, and the motion of examples, whose names and times are kept."""
    motion = None
    mesh: Mesh | None = None
    if isinstance(shapes, Examples):
        motion, mesh = shapes.motion, shapes.rig.mesh
        every = [np.asarray(shapes.shapes[k]) for k in range(len(shapes))]
        stacked = np.stack(every) if every else np.zeros((0, len(mesh.points), 3))
    elif isinstance(shapes, Sequence) and shapes and isinstance(shapes[0], Mesh):
        meshes = cast("Sequence[Mesh]", shapes)
        mesh, stacked = meshes[0], _stacked(meshes)
    else:
        stacked = np.asarray(shapes)
    stacked = check.floats("shapes", stacked, ("P", "N", 3), check.LARGEST)
    least = 2 if motion is None and rest is None else 1
    if len(stacked) < least:
        wanted = "at least two, the first of which is at rest" if least == 2 else "at least one beside the rest shape"
        raise InputError(f"shapes: expected {wanted}, got {len(stacked)}")
    points = stacked[0] if rest is None else check.floats("rest", rest, stacked.shape[1:], check.LARGEST)
    if mesh is None:
        if triangles is None:
            raise InputError("triangles: expected the triangles (T, 3) of shapes that are an array")
        mesh = Mesh(points, np.asarray(triangles))
    elif rest is not None:
        mesh = mesh.with_points(points)
    return stacked, mesh, motion


def _stacked(meshes: Sequence[Mesh]) -> Floats:
    for number, shape in enumerate(meshes):
        if len(shape.points) != len(meshes[0].points):
            counts = f"{len(meshes[0].points)} vertices as in the first, got {len(shape.points)}"
            raise InputError(f"shape {number}: expected {counts}; bring the shapes into correspondence first")
    return np.stack([shape.points for shape in meshes])


def _check_settings(count: int | None, influences: int, bandwidth: float, mesh: Mesh) -> None:
    if not 1 <= check.whole("influences", influences) <= 8:
        raise InputError(f"influences: expected 1 to 8, got {influences}")
    if not len(mesh.triangles):
        raise InputError("shapes: expected triangles, whose motion determines the bones, got none")
    if not 0 < check.number("bandwidth", bandwidth) <= 10:
        raise InputError(f"bandwidth: expected above 0 and at most 10, got {bandwidth}")
    if count is not None and not 1 <= check.whole("count", count) <= len(mesh.triangles):
        raise InputError(f"count: expected 1 to {len(mesh.triangles)} bones, as there are triangles, got {count}")
    if mesh.diagonal <= 0:
        raise InputError("shapes: expected a rest shape of some size, got all vertices at one position")


def _require_motion(shapes: Floats, mesh: Mesh) -> None:
    """Raise where every shape (P, N, 3) is the rest shape, as far as single precision tells them apart."""
    rest = np.asarray(mesh.points, dtype=np.float64)
    if all(np.abs(shape - rest).max() <= STILL * (np.abs(rest).max() + mesh.diagonal) for shape in shapes):
        raise InputError(
            f"shapes: expected some that differ from the rest shape, whose motion determines the bones; "
            f"all {len(shapes)} are the same; check that other frames were exported"
        )


def _examples(
    mesh: Mesh, shapes: Floats, motion: Motion | None, unit: Normalised, fitted: Bones, affine: bool
) -> Examples:
    """The examples of bones that were fitted to normalised shapes."""
    count = len(fitted.transforms)
    influences, weights = fitted.influences, fitted.weights
    centres = bone_centres(unit.points, influences, weights, count)
    moved = unit.original_transforms(fitted.transforms).transpose(1, 0, 2, 3)
    names = [f"bone{k}" for k in range(count)]
    world = np.tile(np.eye(4), (len(shapes), count, 1, 1))
    if affine:
        corners = corners_around(unit.points, influences, weights, centres)
        influences, weights = corner_weights(unit.points, influences, weights, corners)
        centres = corners.reshape(-1, 3)
        names = [f"{name}.{corner}" for name in names for corner in "abcd"]
        world = np.repeat(world, 4, axis=1)
        moved = np.repeat(moved, 4, axis=1)
    positions = unit.centre + unit.scale * centres
    rest_world = np.tile(np.eye(4), (len(positions), 1, 1))
    rest_world[:, :3, 3] = positions
    world[..., :3, 3] = np.einsum("pbij,bj->pbi", moved[..., :3], positions) + moved[..., 3]
    if not affine:
        world[..., :3, :3] = moved[..., :3]
    skeleton = Skeleton.from_world(names, np.full(len(positions), -1, np.int32), rest_world)
    rig = Rig(mesh, skeleton, influences[unit.groups], weights[unit.groups])
    times, poses = (None, None) if motion is None else (motion.times, motion.names)
    return Examples.from_shapes(rig, Motion.from_world(skeleton, world, times, poses), shapes)
