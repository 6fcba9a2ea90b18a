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
from posespace.errors import InputError, SettingError, quoted
from posespace.examples import Examples, require_examples
from posespace.fit.bones.bones import bones as virtual_bones
from posespace.fit.points.alignment import best_anchors
from posespace.fit.points.bone_rotations import BoneRotations, bone_rotations
from posespace.fit.points.control_rig import control_rig
from posespace.fit.points.corrections import with_corrections
from posespace.fit.points.detail import with_detail
from posespace.fit.points.kernel_models import KernelModels, fit_models, local_squared_distances, squared_distances
from posespace.fit.points.point_selection import mean_displacements, select_points
from posespace.fit.points.ties import loose_pieces, ties_of
from posespace.geometry import rotations
from posespace.geometry.anchors import find_anchors, without_rigid_motion
from posespace.geometry.geodesics import Geodesics
from posespace.geometry.local_frames import local_frames
from posespace.geometry.rigid import rigid, spans_plane
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.poses.control_points import motion_from_shapes
from posespace.poses.digests import pose_digests
from posespace.rig import Rig
from posespace.skin.bones.learned import MOST_BONES, LearnedBones, check_beta
from posespace.skin.provenance import EXAMPLES_ERROR, about_fit, with_notes
from posespace.skin.skin import Skin

LOCAL = ("geometry", "both", "pose", "none")
AXES = ("local", "global")

_LEAST = 3
"""Fewest points that determine local axes."""

_FAR = 0.01
"""Weight of the points far from a bone in its local axes, relative to the nearest."""


@dataclass(frozen=True)
class ControlPoints:
    """Control points: drag a few points of the surface, and all of it follows as in the examples.

    Parameters
    ----------
    points : number of control points; ignored where `picked` is given
    picked : vertices to take as control points, e.g. "12,507,44"; None: spread over the surface, denser where it moves
        more. In Python a list, too
    bones : number of virtual bones that move the surface
    local : what a bone's rotation is learned from; "geometry": the points near it, in all examples; "pose": all points,
        in the examples nearest to the pose; "both": the points near it, in the examples nearest to the pose (Huang et
        al. 2011); "none": all points, in all examples (Feng et al. 2008)
    near_points : number of control points that influence a bone (k_c); only with local "geometry" or "both"
    near_poses : number of nearest examples used for each bone's kernel model (k_p); only with local "pose" or "both"
    axes : coordinate axes in which a bone's control points are expressed; "local": axes that move with these
        points; "global": those of the whole surface; only with local "geometry" or "both"
    corrections : number of corrective components fitted to the residual of the bones; only with local "geometry"
    width : kernel bandwidth, relative to the median distance between the examples
    ridge : regularisation of the kernel regression, as a fraction of the kernels' mean variance
    beta : how strongly the points pull the surface: use 3 or more for dragged points, about 0.3 for noisy markers
    """

    points: int = 20
    picked: str | Sequence[int] | None = None
    bones: int = 200
    local: str = field(default="geometry", metadata={"choices": LOCAL})
    near_points: int = 6
    near_poses: int = 7
    axes: str = field(default="local", metadata={"choices": AXES})
    corrections: int = 8
    width: float = 4.0
    ridge: float = 1e-3
    beta: float = 30.0

    def __post_init__(self) -> None:
        for name in ("points", "bones", "near_points", "near_poses"):
            check.count(name, getattr(self, name))
        if self.bones > MOST_BONES:
            raise InputError(f"bones: expected at most {MOST_BONES}, got {self.bones}")
        check.choice("local", self.local, LOCAL)
        check.choice("axes", self.axes, AXES)
        if check.whole("corrections", self.corrections) < 0:
            raise InputError(f"corrections: expected at least 0, got {self.corrections}")
        for name, least, most in (("width", 1e-3, 1e3), ("ridge", 0.0, 1e3)):
            if not least <= check.number(name, getattr(self, name)) <= most:
                raise InputError(f"{name}: expected {least:g} to {most:g}, got {getattr(self, name)}")
        check_beta(self.beta)
        if self.picked is not None:
            object.__setattr__(self, "picked", _vertices(self.picked))

    def fit(self, examples: Examples, virtual: Rig | None = None) -> Skin:
        """Return the skin of the examples.

        Only their shapes are used, up to rigid motions; the rig's mesh is the rest shape. The skin's joints are the
        control points, which poses translate. Examples with heights give a skin with detail. `virtual` is a rig of
        virtual bones (`posespace.bones`), if they are known already.
        """
        require_examples(examples)
        if self.local != "geometry" and self.corrections not in (0, type(self).corrections):
            warnings.warn("corrections: ignored; they need `local='geometry'`", stacklevel=2)
        mesh = examples.rig.mesh
        geodesics = Geodesics(mesh.points, mesh.triangles)
        points = self._points(examples, geodesics)
        self._require_enough(len(points), len(examples))
        distances = geodesics(points)
        rig = control_rig(mesh, points, distances)
        motion = motion_from_shapes(examples, rig, points)
        bones = self._bones(examples, points, distances, motion.translations[:, 1:], virtual)
        aligned, detail = bones.aligned(motion, rig)[0], None
        positions = bones.rest + aligned.translations[:, 1:]
        squares = np.stack([bones.squared_distances(points) for points in positions], axis=1)
        if self.local == "geometry" and self.corrections:
            bones = with_corrections(bones, rig, examples, motion, squares, self.corrections)
        if examples.heights is not None:
            bones, detail = with_detail(bones, examples, squares)
        skin = Skin(rig, bones=bones)
        figures: dict[str, Any] = {"points": points, "bones": len(bones), **_errors(skin, examples, motion)}
        about = about_fit("points", self, pose_digests(aligned, rig.skeleton), figures=figures)
        if (ratio := figures[EXAMPLES_ERROR]) > 1:
            line = f"at its own examples it has {ratio:.2f} times the error of plain skinning; {_remedy(mesh, points)}"
            warnings.warn(f"control points: {line}", stacklevel=2)
            about = with_notes(about, [line])
        return replace(skin, detail=detail, about=about)

    def _bones(
        self, examples: Examples, points: list[int], distances: Floats, translations: Floats, virtual: Rig | None
    ) -> LearnedBones:
        """The bones of points with `translations` (S, M, 3) in the examples, `distances` (M, N) from the vertices."""
        mesh = examples.rig.mesh
        rest = mesh.points[points].astype(np.float64)
        observed = rest + translations
        anchors = find_anchors(rest, observed)[0]
        if not spans_plane(rest, anchors):
            wanted = "picked: expected points that are not all on one line at rest"
            raise InputError(f"{wanted}: these leave the rotation of the whole open; pick one beside it")
        shapes = _aligned(examples, *rigid(rest, observed, anchors))
        if virtual is None:
            most = len(mesh.triangles)
            if self.bones > most:
                raise SettingError(f"bones: expected at most {most}, the number of triangles, got {self.bones}")
            virtual = virtual_bones(shapes, self.bones, mesh.triangles, rest=mesh.points, rounds=1).rig
        influences, weights = virtual.influences, virtual.weights.astype(np.float32)
        count = len(virtual.skeleton)
        observed_bones = bone_rotations(mesh.points.astype(np.float64), shapes, influences, weights, count)
        near, gaps = self._near(distances, mesh.points, rest, observed_bones.centres)
        return LearnedBones(
            points=np.asarray(points, np.int32),
            rest=rest,
            **self._models(rest, shapes[:, points], near, gaps, observed_bones),
            near=near,
            centres=observed_bones.centres,
            influences=influences,
            weights=weights,
            beta=self.beta,
            ties=ties_of(mesh, points, influences, weights),
        )

    def _models(
        self, rest: Floats, positions: Floats, near: Ints, gaps: Floats, bones: BoneRotations
    ) -> dict[str, Any]:
        """The weights of the alignment, the aligned examples, and the models of all bones."""
        local_axes = self.local in ("geometry", "both") and self.axes == "local" and near.shape[1] >= _LEAST
        if local_axes:
            anchors = find_anchors(rest, positions)[0]
        else:
            anchors = best_anchors(rest, positions, near, bones, self.width, self.ridge)
        whole = rotations.from_matrices(rigid(rest, positions, anchors)[0])
        relative = rotations.multiply(rotations.inverse(whole)[:, None], bones.rotations)
        samples = without_rigid_motion(rest, positions, anchors)
        holds = _axis_weights(gaps) if local_axes else None
        if holds is None:
            squares = squared_distances(samples, near)
        else:
            local, axes = local_frames(rest[near], samples[:, near], holds)
            relative = rotations.multiply(rotations.inverse(axes), relative)
            squares = local_squared_distances(local)
        neighbours = self.near_poses if self.local in ("pose", "both") else None
        models = _single_precision(fit_models(squares, relative, self.width, self.ridge, neighbours))
        return {"anchors": anchors, "samples": samples, "holds": holds, **models}

    def _points(self, examples: Examples, geodesics: Geodesics) -> list[int]:
        """The vertices of the control points: those picked, or selected ones."""
        count = len(examples.rig.mesh.points)
        if self.picked is None:
            return select_points(geodesics, mean_displacements(examples), examples.rig.mesh, self.points)
        check.indices("picked", np.array(self.picked), ("M",), below=count)
        if len(set(self.picked)) < len(self.picked):
            raise InputError("picked: expected each vertex once, got some twice")
        return [int(vertex) for vertex in self.picked]

    def _require_enough(self, points: int, examples: int) -> None:
        if examples < 2:
            raise InputError(f"examples: expected at least 2 shapes to learn from, got {examples}")
        if points < 3:
            raise SettingError(f"points: expected at least 3, which a rigid motion needs, got {points}")
        if self.local in ("geometry", "both"):
            self._require_most("near_points", points, "the number of control points")
        if self.local in ("pose", "both"):
            self._require_most("near_poses", examples - 1, "one less than the number of examples")

    def _require_most(self, setting: str, most: int, what: str) -> None:
        if (value := getattr(self, setting)) > most:
            default = " (the default)" if value == getattr(type(self), setting) else ""
            raise SettingError(f"{setting}: expected at most {most}, {what}, got {value}{default}")

    def _near(self, distances: Floats, points: Floats, rest: Floats, centres: Floats) -> tuple[Ints, Floats]:
        """The points (B, C) that influence each bone, the nearest over the surface, and their distances.

        A connected component of the surface without points is influenced by the nearest ones in a straight line.
        """
        count = self.near_points if self.local in ("geometry", "both") else len(distances)
        vertex = cKDTree(points).query(centres)[1]
        gaps = distances[:, vertex].T
        straight = np.linalg.norm(centres[:, None] - rest, axis=2)
        gaps = np.where(np.isfinite(gaps), gaps, 10 * np.ptp(points, axis=0).max() + straight)
        near = np.argsort(gaps, axis=1, kind="stable")[:, :count].astype(np.int32)
        return near, np.take_along_axis(gaps, near, axis=1)


def _axis_weights(gaps: Floats) -> Floats:
    """The weight (B, C) of each of a bone's points in its local axes, from their distances, nearest first.

    They fall off with the distance to the fourth, so that three to four points count.
    """
    further = gaps - gaps[:, :1]
    reach = 0.5 * further[:, [min(3, gaps.shape[1] - 1)]] + 1e-30
    weights = np.exp(-0.5 * np.minimum(further / reach, 30.0) ** 2) + _FAR
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _vertices(picked: str | Sequence[int]) -> tuple[int, ...]:
    """Vertices from a list, or from text with commas."""
    if not isinstance(picked, str):
        return tuple(check.whole("picked", vertex) for vertex in picked)
    try:
        return tuple(int(part) for part in picked.split(",") if part.strip())
    except ValueError:
        raise InputError(f"picked: expected vertex numbers separated by commas, got {quoted(picked)}") from None


def _aligned(examples: Examples, rotation: Floats, translation: Floats) -> Floats:
    """The shapes (S, N, 3) without the rigid motion of the whole, rotations (S, 3, 3) and translations (S, 3)."""
    shapes = np.empty((len(examples), *examples.rig.mesh.points.shape))
    for row in range(len(examples)):
        shapes[row] = (np.asarray(examples.shapes[row], dtype=np.float64) - translation[row]) @ rotation[row]
    return shapes


def _single_precision(models: KernelModels) -> dict[str, Any]:
    """The models as they are stored, by field."""
    fields = models._asdict()
    return {name: value if name == "blended" else value.astype(np.float32) for name, value in fields.items()}


def _remedy(mesh: Mesh, points: list[int]) -> str:
    """What helps a skin whose error is large."""
    if count := loose_pieces(mesh, points):
        return f"{count} separate pieces of the surface have no control point; pick one on each"
    return "give more examples"


def _errors(skin: Skin, examples: Examples, motion: Motion) -> dict[str, float]:
    """Errors of the skin at its examples: root mean square relative to the largest box side, and to plain skinning."""
    squares = np.zeros((2, len(examples)))
    for k, ((points, _), pose) in enumerate(zip(skin.poses(motion), examples.motion, strict=True)):
        shape = np.asarray(examples.shapes[k])
        for row, posed in enumerate((points, examples.rig.skin(pose))):
            squares[row, k] = ((posed - shape) ** 2).sum(axis=1).mean()
    side, (rms, plain) = float(np.ptp(skin.rig.mesh.points, axis=0).max()), np.sqrt(squares.mean(axis=1)).tolist()
    return {
        "rms on its examples": rms / (side if side > 0 else 1.0),
        EXAMPLES_ERROR: round(rms / plain, 4) if plain > 0 else 0.0,
    }
