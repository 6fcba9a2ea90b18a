"""ControlPoints: a surface that follows a few points of it, learned from a few example shapes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError, quoted
from posespace.examples import Examples, require_examples
from posespace.fit.bones.bones import bones as virtual_bones
from posespace.fit.points.alignment import best_anchors
from posespace.fit.points.bone_rotations import Turned, bone_turns
from posespace.fit.points.control_rig import control_rig
from posespace.fit.points.corrections import with_corrections
from posespace.fit.points.detail import with_detail
from posespace.fit.points.kernel_models import Models, fit_models, squares_of, squares_of_seen
from posespace.fit.points.point_selection import moved_most, propose
from posespace.geometry import rotations
from posespace.geometry.anchors import find_anchors, without_rigid_motion
from posespace.geometry.geodesics import Geodesics
from posespace.geometry.local_frames import local_frames
from posespace.geometry.rigid import rigid
from posespace.motion import Motion
from posespace.poses.control_points import motion_from_shapes
from posespace.poses.digests import pose_digests
from posespace.rig import Rig
from posespace.skin.bones.learned import MOST_BONES, LearnedBones
from posespace.skin.provenance import EXAMPLES_ERROR, about_fit, with_notes
from posespace.skin.skin import Skin

LOCAL = ("geometry", "both", "pose", "none")
FRAMES = ("own", "whole")

_LEAST = 3
"""Points that a frame of their own takes."""

_FAR = 0.01
"""How much the points that are far from a bone count in its frame, against the nearest."""


@dataclass(frozen=True)
class ControlPoints:
    """Control points: drag a few points of the surface, and all of it follows as in the examples.

    Parameters
    ----------
    points : how many control points are proposed, spread over the surface where it moves most
    picked : numbers of the vertices to take as control points instead, e.g. "12,507,44". In Python a list, too
    bones : how many virtual bones move the surface
    local : what a bone's rotation is learned from: "geometry": the points near it, in all examples; "pose": all points,
        in the examples nearest to the pose; "both": both, as Huang et al. 2011; "none": neither, as Feng et al. 2008
    near_points : k_c, how many control points influence a bone where it is local in geometry
    near_poses : k_p, how many examples a model has where it is local in pose
    frame : what a bone that is local in geometry sees its points from: "own": a frame that moves with them; "whole":
        that of the whole, as the others do
    corrections : with local "geometry", number of corrective components fitted to the residual of the bones
    width : of the kernels, over the median distance between the examples
    ridge : how much the kernels are regularised, over their mean variance
    beta : how strongly the surface is drawn to the points: 3 or more for points that are dragged, 0.3 for noisy markers
    """

    points: int = 20
    picked: str | Sequence[int] = ""
    bones: int = 200
    local: str = field(default="geometry", metadata={"choices": LOCAL})
    near_points: int = 6
    near_poses: int = 7
    frame: str = field(default="own", metadata={"choices": FRAMES})
    corrections: int = 8
    width: float = 4.0
    ridge: float = 1e-3
    beta: float = 30.0

    def __post_init__(self) -> None:
        for name in ("points", "bones", "near_points", "near_poses"):
            if check.whole(name, getattr(self, name)) < 1:
                raise InputError(f"{name}: expected at least 1, got {getattr(self, name)}")
        if self.bones > MOST_BONES:
            raise InputError(f"bones: expected at most {MOST_BONES}, got {self.bones}")
        check.choice("local", self.local, LOCAL)
        check.choice("frame", self.frame, FRAMES)
        if check.whole("corrections", self.corrections) < 0:
            raise InputError(f"corrections: expected at least 0, got {self.corrections}")
        for name, least, most in (("width", 1e-3, 1e3), ("ridge", 0.0, 1e3), ("beta", 1e-6, 1e6)):
            if not least <= check.number(name, getattr(self, name)) <= most:
                raise InputError(f"{name}: expected {least:g} to {most:g}, got {getattr(self, name)}")
        object.__setattr__(self, "picked", _numbers(self.picked))

    def fit(self, examples: Examples, virtual: Rig | None = None) -> Skin:
        """Return the skin of the examples: their shapes alone are used, however they are placed; the rig's is the rest.

        Its joints are the control points, which poses shift. Where the examples have heights, so has the skin's detail.
        `virtual` is a rig of virtual bones (`posespace.bones`), where they are known already.
        """
        require_examples(examples)
        mesh = examples.rig.mesh
        geodesics = Geodesics(mesh.points, mesh.triangles)
        points = self._points(examples, geodesics)
        self._require_enough(len(points), len(examples))
        distances = geodesics(points)
        rig = control_rig(mesh, points, distances)
        motion = motion_from_shapes(examples, rig, points)
        bones = self._bones(examples, points, distances, motion.translations[:, 1:], virtual)
        skin = Skin(rig, bones=bones)
        seen, detail = skin.aligned(motion)[0], None
        squares = np.stack(
            [bones.squared_distances(bones.rest + shifts) for shifts in seen.translations[:, 1:]], axis=1
        )
        if self.local == "geometry" and self.corrections:
            bones = with_corrections(skin, examples, motion, squares, self.corrections)
        if examples.heights is not None:
            bones, detail = with_detail(bones, examples, squares)
        skin = Skin(rig, bones=bones)
        own: dict[str, Any] = {"points": points, "bones": len(bones), **_returned(skin, examples, motion)}
        about = about_fit("points", self, pose_digests(seen, rig.skeleton), figures=own)
        if (ratio := own[EXAMPLES_ERROR]) > 1:
            line = f"at its own examples it has {ratio:.2f} times the error of plain skinning; give more examples"
            warnings.warn(f"points: {line}", stacklevel=2)
            about = with_notes(about, [line])
        return replace(skin, detail=detail, about=about)

    def _bones(
        self, examples: Examples, points: list[int], distances: Floats, shifts: Floats, virtual: Rig | None
    ) -> LearnedBones:
        """The bones of points that are shifted (S, M, 3) in the examples, `distances` (M, N) from them."""
        mesh = examples.rig.mesh
        rest = mesh.points[points].astype(np.float64)
        shapes = _brought_back(examples, *rigid(rest, rest + shifts, find_anchors(rest, rest + shifts)[0]))
        if virtual is None:
            most = len(mesh.triangles)
            if self.bones is not None and self.bones > most:
                raise InputError(f"bones: expected 1 to {most}, as there are triangles, got {self.bones}")
            virtual = virtual_bones(shapes, self.bones, mesh.triangles, rest=mesh.points, rounds=1).rig
        influences, weights = virtual.influences, virtual.weights.astype(np.float32)
        count = len(virtual.skeleton)
        turned = bone_turns(mesh.points.astype(np.float64), shapes, influences, weights, count)
        near, gaps = self._near(distances, mesh.points, rest, turned.centres)
        placed = shapes[:, points]
        return LearnedBones(
            points=np.asarray(points, np.int32),
            rest=rest,
            **self._models(rest, placed, near, gaps, turned),
            near=near,
            centres=turned.centres,
            influences=influences,
            weights=weights,
            beta=self.beta,
        )

    def _models(self, rest: Floats, placed: Floats, near: Ints, gaps: Floats, turned: Turned) -> dict[str, Any]:
        """The frame of the whole, the examples seen from it, and the models of all bones."""
        own = self.local in ("geometry", "both") and self.frame == "own" and near.shape[1] >= _LEAST
        if own:
            anchors = find_anchors(rest, placed)[0]
        else:
            anchors = best_anchors(rest, placed, near, turned.turns, turned.sizes, self.width, self.ridge)
        whole = rotations.from_matrices(rigid(rest, placed, anchors)[0])
        turns = rotations.multiply(rotations.inverse(whole)[:, None], turned.turns)
        samples = without_rigid_motion(rest, placed, anchors)
        holds = _holds(gaps) if own else None
        if holds is None:
            squares = squares_of(samples, near)
        else:
            seen, frames = local_frames(rest[near], samples[:, near], holds)
            turns = rotations.multiply(rotations.inverse(frames), turns)
            squares = squares_of_seen(seen)
        neighbours = self.near_poses if self.local in ("pose", "both") else 0
        models = _single(fit_models(squares, turns, self.width, self.ridge, neighbours))
        return {"anchors": anchors, "samples": samples, "holds": holds, **models}

    def _points(self, examples: Examples, geodesics: Geodesics) -> list[int]:
        """The vertices of the control points: those picked, or proposed ones."""
        count = len(examples.rig.mesh.points)
        if not self.picked:
            return propose(geodesics, moved_most(examples), self.points)
        check.indices("picked", np.array(self.picked), ("M",), below=count)
        if len(set(self.picked)) < len(self.picked):
            raise InputError("picked: expected each vertex once, got some twice")
        return [int(vertex) for vertex in self.picked]

    def _require_enough(self, points: int, examples: int) -> None:
        if examples < 2:
            raise InputError(f"examples: expected at least 2 shapes to learn from, got {examples}")
        if points < 3:
            raise InputError(f"points: expected at least 3, so that they say how the whole is turned, got {points}")
        if self.local in ("geometry", "both") and points < self.near_points:
            raise InputError(
                f"near_points: expected at most {points}, as there are so many points, got {self.near_points}"
            )
        if self.local in ("pose", "both") and examples <= self.near_poses:
            wanted = f"at most {examples - 1}, one less than there are examples"
            raise InputError(f"near_poses: expected {wanted}, got {self.near_poses}")

    def _near(self, distances: Floats, points: Floats, rest: Floats, centres: Floats) -> tuple[Ints, Floats]:
        """The points (B, C) that each bone listens to, and how far they are: the nearest over the surface from it.

        A part of the surface that has none of them (M, 3) listens to the nearest ones in a straight line.
        """
        count = self.near_points if self.local in ("geometry", "both") else len(distances)
        vertex = cKDTree(points).query(centres)[1]
        far = distances[:, vertex].T
        apart = np.linalg.norm(centres[:, None] - rest, axis=2)
        far = np.where(np.isfinite(far), far, 10 * np.ptp(points, axis=0).max() + apart)
        near = np.argsort(far, axis=1, kind="stable")[:, :count].astype(np.int32)
        return near, np.take_along_axis(far, near, axis=1)


def _holds(gaps: Floats) -> Floats:
    """How much (B, C) each of a bone's points counts in its frame, from how far they are, nearest first.

    The distance to the fourth is the measure, so that three to four points count.
    """
    further = gaps - gaps[:, :1]
    reach = 0.5 * further[:, [min(3, gaps.shape[1] - 1)]] + 1e-30
    holds = np.exp(-0.5 * np.minimum(further / reach, 30.0) ** 2) + _FAR
    return np.asarray(holds / holds.sum(axis=1, keepdims=True))


def _numbers(given: str | Sequence[int]) -> tuple[int, ...]:
    """Vertices given as a list, or as text with commas."""
    if not isinstance(given, str):
        return tuple(check.whole("picked", vertex) for vertex in given)
    try:
        return tuple(int(part) for part in given.split(",") if part.strip())
    except ValueError:
        raise InputError(
            f"picked: expected numbers of vertices with commas between them, got {quoted(given)}"
        ) from None


def _brought_back(examples: Examples, turns: Floats, shifts: Floats) -> Floats:
    """The shapes (S, N, 3) without the rigid motions of the whole."""
    found = np.empty((len(examples), *examples.rig.mesh.points.shape))
    for row in range(len(examples)):
        found[row] = (np.asarray(examples.shapes[row], dtype=np.float64) - shifts[row]) @ turns[row]
    return found


def _single(models: Models) -> dict[str, Any]:
    """The models as they are stored, in single precision."""
    found = models._asdict()
    return {name: value if name == "blended" else value.astype(np.float32) for name, value in found.items()}


def _returned(skin: Skin, examples: Examples, motion: Motion) -> dict[str, float]:
    """How far the skin is from the examples it was fitted to, the largest box side being 1, and over plain skinning."""
    squares = np.zeros((2, len(examples)))
    for k, ((points, _), pose) in enumerate(zip(skin.poses(motion), examples.motion, strict=True)):
        shape = np.asarray(examples.shapes[k])
        for kind, given in enumerate((points, examples.rig.skin(pose))):
            squares[kind, k] = ((given - shape) ** 2).sum(axis=1).mean()
    side, (own, plain) = float(np.ptp(skin.rig.mesh.points, axis=0).max()), np.sqrt(squares.mean(axis=1)).tolist()
    return {
        "rms on its examples": own / (side if side > 0 else 1.0),
        EXAMPLES_ERROR: round(own / plain, 4) if plain > 0 else 0.0,
    }
