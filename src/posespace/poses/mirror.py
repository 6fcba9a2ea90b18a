"""Poses and sculpts mirrored to the other side of a rig."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError, quoted
from posespace.examples import Examples, require_examples
from posespace.geometry import rotations
from posespace.geometry.smoothstep import smoothstep
from posespace.motion import LEAST_ANGLE, LEAST_CONTROL, Motion
from posespace.pose import Pose
from posespace.poses.symmetry import MirrorPlane, bind_skeleton, counterparts, rig_plane, skeleton_plane
from posespace.poses.world_rotations import motion_from_world_rotations, world_rotations
from posespace.rig import Rig
from posespace.skeleton import Skeleton, other_side

TOLERANCE = 0.01
"""Largest distance of a vertex's mirror image from the surface, as a fraction of the box's diagonal."""

_LEAST = 1e-5
"""Least displacement that counts, of the box's diagonal. Less is the rounding of text files."""

_REFUSED = 0.5
"""A sculpt of which a smaller fraction matches is not mirrored."""

_WELL = 0.98
"""A sculpt of which a smaller fraction matches should be looked at."""


@dataclass(frozen=True)
class SymmetryMatch:
    """How well the region that a sculpt moves matches its mirror image.

    Parameters
    ----------
    vertices : number of positions that the sculpt moves
    matched : the fraction of them whose mirror image lies within the tolerance of the surface
    median, farthest : distance of the mirror images from the surface, as a fraction of the box's diagonal
    """

    vertices: int
    matched: float
    median: float
    farthest: float

    @property
    def is_good(self) -> bool:
        """Whether nearly all of it matches; otherwise the sculpt should be checked by eye."""
        return self.matched >= _WELL

    def __str__(self) -> str:
        within = f"{self.matched:.1%} of {self.vertices:,} moved positions matched"
        return f"{within}, {self.median:.2%} of the box off (median), {self.farthest:.2%} at most"


@dataclass(frozen=True, eq=False)
class MirroredSculpt:
    """A sculpt mirrored to the other side.

    Parameters
    ----------
    name : its name, the side changed
    pose : the mirrored pose
    shape : (N, 3) in posed space
    match : how well the two sides match
    """

    name: str
    pose: Pose
    shape: Floats
    match: SymmetryMatch


class Mirror:
    """Mirrors poses and sculpts of a rig to its other side.

    Parameters
    ----------
    rig : the rig; only the region that a sculpt moves must be symmetric
    normal : (3,) of the mirror plane; None: from the joints that names pair, or x
    tolerance : largest distance of a vertex's mirror image from the surface, as a fraction of the box's diagonal
    """

    def __init__(self, rig: Rig, normal: ArrayLike | None = None, tolerance: float = TOLERANCE) -> None:
        check.kind("rig", rig, Rig)
        if not 0 < check.number("tolerance", tolerance) <= 1:
            raise InputError(f"tolerance: expected above 0, up to 1, got {tolerance}")
        self.rig, self.tolerance = rig, tolerance
        self.plane, self._skeleton = rig_plane(rig, normal), bind_skeleton(rig)
        self._corners, self._shares, self._off = _images(rig, self.plane, tolerance)

    def motion(self, motion: Motion) -> Motion:
        """Return the poses mirrored; their names stay."""
        bound = self.rig.rest.translations
        image = _mirrored_motion(replace(motion, translations=motion.translations - bound), self._skeleton, self.plane)
        return replace(image, translations=image.translations + bound)

    def is_central(self, pose: Pose) -> bool:
        """Whether a pose is its own mirror image, as when a spine bends forward."""
        one = Motion.from_poses([pose])
        image = self.motion(one)
        angles = rotations.angles_between(image.rotations, one.rotations)
        translations = np.abs(image.translations - one.translations)
        controls = image[0].controls
        names = {*pose.controls, *controls}
        same = all(abs(pose.controls.get(name, 0.0) - controls.get(name, 0.0)) <= LEAST_CONTROL for name in names)
        return bool(same and (angles <= LEAST_ANGLE).all() and (translations <= 1e-4 * self.rig.mesh.diagonal).all())

    def sculpt(self, name: str, pose: Pose, displacement: Floats) -> MirroredSculpt:
        """Return the sculpt `name`, which adds `displacement` (N, 3) in the rest shape, on the other side."""
        image = self.motion(Motion.from_poses([pose], [name]))[0]
        moved, match = self._displacement(displacement)
        if match.vertices and match.matched < _REFUSED:
            raise InputError(
                f"mirror {quoted(name)}: the two sides differ where it moves vertices ({match}); "
                f"give another normal, or a tolerance above {self.tolerance:g} of the box"
            )
        return MirroredSculpt(mirrored_name(name), image, self.rig.skin(image, moved), match)

    def _displacement(self, displacement: Floats) -> tuple[Floats, SymmetryMatch]:
        """The mirrored displacements (N, 3) of a sculpt, and how well the sides match where it moves anything."""
        weld, size = self.rig.mesh.weld, max(self.rig.mesh.diagonal, 1e-300)
        displacements = weld.gather(displacement)
        moves = np.linalg.norm(displacements, axis=1) > _LEAST * size
        # Beyond the tolerance it fades out instead of ending at once, so that the surface does not tear.
        fade = smoothstep(2 - self._off / (self.tolerance * size))
        values = np.einsum("gk,gkc->gc", self._shares, displacements[self._corners])
        mirrored = (fade[:, None] * values) @ self.plane.reflection
        off = self._off[moves] / size
        if not len(off):
            return weld.scatter(mirrored), SymmetryMatch(0, 1.0, 0.0, 0.0)
        match = SymmetryMatch(len(off), float((off <= self.tolerance).mean()), float(np.median(off)), float(off.max()))
        return weld.scatter(mirrored), match


def mirror(motion: Motion, skeleton: Skeleton, normal: ArrayLike | None = None) -> Motion:
    """Mirror poses across the plane with this `normal` (3,): the left hand does what the right one did.

    Joints are matched by name (``_L``/``_R``, ``Left``/``Right``) and by where they rest; each rotates from its rest as
    the reflection of its counterpart's rotation. Controls named for a side change sides too. Default normal: the
    direction between paired joints.
    """
    check.kind("motion", motion, Motion)
    check.kind("skeleton", skeleton, Skeleton)
    return _mirrored_motion(motion, skeleton, skeleton_plane(skeleton, normal))


def mirror_examples(examples: Examples, normal: ArrayLike | None = None, tolerance: float = TOLERANCE) -> Examples:
    """Mirror poses, as `mirror` does, and shapes: a sculpt of the left side becomes one of the right, names too.

    Each vertex takes the reflected displacement of the point of the rest surface nearest to its mirror image. Only the
    region that a sculpt moves must be symmetric; `Mirror` reports how well it matches. Examples at central poses, which
    are their own mirror image, are kept as they are.

    Parameters
    ----------
    normal : (3,) of the mirror plane; None: from the joints that names pair, or x
    tolerance : largest distance of a vertex's mirror image from the surface, as a fraction of the box's diagonal
    """
    require_examples(examples)
    side = Mirror(examples.rig, normal, tolerance)
    mirrored: list[tuple[str, Pose, Floats]] = []
    for index, (name, (pose, shape)) in enumerate(zip(examples.motion.names, examples, strict=True)):
        if side.is_central(pose):
            mirrored.append((name, pose, shape))
            continue
        image = side.sculpt(name, pose, examples.residual(index)[0])
        if not image.match.is_good:
            warnings.warn(f"mirror {name!r}: {image.match}", stacklevel=2)
        mirrored.append((image.name, image.pose, image.shape))
    names, poses, shapes = zip(*mirrored, strict=True)
    motion = replace(Motion.from_poses(poses, names), times=examples.motion.times)
    return Examples.from_shapes(examples.rig, motion, list(shapes))


def mirrored_name(name: str) -> str:
    """Return the name of a sculpt's mirror image: ``bentL`` → ``bentR``, ``fist`` → ``fist_mirrored`` and back."""
    other = other_side(name)
    if other != name:
        return other
    ending = "_mirrored"
    return name.removesuffix(ending) if name.endswith(ending) else name + ending


def _mirrored_motion(motion: Motion, skeleton: Skeleton, plane: MirrorPlane) -> Motion:
    reflect = plane.reflection
    world, translations, names = *world_rotations(motion, skeleton), motion.control_names
    other = counterparts(skeleton, plane)
    if len(skeleton) > 1 and (other == np.arange(len(skeleton))).all():
        raise InputError(
            "mirror: no joint has a counterpart on the other side by its name (_L/_R, Left/Right); "
            "a rig of one side, such as a single hand, cannot be mirrored"
        )
    sides = [other_side(name) for name in names]
    swap = [names.index(side) if side in names else k for k, side in enumerate(sides)]
    kept = tuple(name if side in names else side for name, side in zip(names, sides, strict=True))
    like = replace(motion, controls=motion.controls[:, swap], control_names=kept)
    return motion_from_world_rotations(
        skeleton, reflect @ world[:, other] @ reflect, translations[:, other] @ reflect, like
    )


def _images(rig: Rig, plane: MirrorPlane, tolerance: float) -> tuple[NDArray[np.integer], Floats, Floats]:
    """The points of the rest surface that are closest to the mirror image of each position.

    Returns the three positions (G, 3) around each point, their shares (G, 3) in it, and its distance (G,).
    """
    from posespace.geometry.surface import Surface

    weld = rig.mesh.weld
    positions = rig.mesh.points[weld.first].astype(np.float64)
    corners = weld.groups[rig.mesh.triangles]
    corners = corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
    loose = np.setdiff1d(np.arange(len(positions)), corners)
    # A vertex of no triangle is a triangle of its own.
    triangles = np.concatenate([corners, np.repeat(loose[:, None], 3, axis=1)]).astype(np.int32)
    images, surface = plane.image(positions), Surface(positions, triangles)
    # What faces the same way first: the inside of a sleeve is no mirror image of its outside.
    near = surface.closest(images, rig.mesh.normals()[weld.first] @ plane.reflection)
    off = np.linalg.norm(near.points - images, axis=1)
    rows = np.flatnonzero(off > tolerance * rig.mesh.diagonal)
    nearest, shares = near.triangles, near.shares
    if len(rows):
        closest = surface.closest(images[rows])
        nearest[rows], shares[rows] = closest.triangles, closest.shares
        off[rows] = np.linalg.norm(closest.points - images[rows], axis=1)
    return triangles[nearest], shares, off
