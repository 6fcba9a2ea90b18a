"""MarkerMapping: a take of markers becomes a motion of control points, which are joints that only translate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.geometry.correspondence_check import Pairing
from posespace.geometry.rigid import equal_shares, rigid, spans_plane
from posespace.markers.alignment import TakeAlignment, align_take
from posespace.markers.gaps import filled, trimmed
from posespace.markers.markers import Markers
from posespace.markers.neighbours import complete
from posespace.motion import Motion
from posespace.skeleton import Skeleton


@dataclass(frozen=True)
class MarkerMapping:
    """Which marker moves which control point, and how gaps, size and alignment are treated.

    Parameters
    ----------
    points : control point by marker: ``{"index_tip": "index tip"}``; empty: markers move the points of their names
    nearest : whether a point that `points` does not name is moved by the marker nearest to it at the reference, once
        the take is aligned by those that it names; needs `reference` and at least 3 mapped markers
    place_by : markers that align the take: their distances hardly change; at least three, not in a line. They need not
        move points. Their rigid motion is that of the whole. Empty: all markers that move points
    size : factor on the take's lengths, above 0. None: the ratio of the points' spread to the markers' at the
        reference, so that units and sizes of hands may differ
    reference : seconds into the take at which it shows the rest shape. None: the frame that is most similar to it
    offsets : whether each point keeps its offset from its marker at the reference; otherwise points go to the markers
    trim : seconds beside each gap in which a marker is ignored too
    longest : seconds; shorter gaps are filled
    hold : seconds into a longer gap for which a point keeps its residual from the prediction by the other points
    fade : seconds within which that residual then fades to zero; where no marker is seen, the point goes to the
        reference
    smooth : seconds over which the rigid motion of the whole is averaged
    keep_whole : whether the motion of the whole is kept, on the root; otherwise the whole stays at rest
    force : use markers that seem to be wrong too (swapped, misplaced, mirrored), instead of refusing them
    """

    points: Mapping[str, str] = field(default_factory=dict)
    nearest: bool = False
    place_by: tuple[str, ...] = ()
    size: float | None = None
    reference: float | None = None
    offsets: bool = True
    trim: float = 0.03
    longest: float = 0.25
    hold: float = 0.25
    fade: float = 0.5
    smooth: float = 0.1
    keep_whole: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        check.kind("points", self.points, Mapping)
        for name in ("trim", "longest", "hold", "fade", "smooth"):
            if not 0 <= check.number(name, getattr(self, name)) < math.inf:
                raise InputError(f"{name}: expected seconds, at least 0, got {getattr(self, name)}")
        if self.size is not None and not 0 < check.number("size", self.size) < math.inf:
            raise InputError(f"size: expected a number above 0, got {self.size}")
        if self.reference is not None and not 0 <= check.number("reference", self.reference) < math.inf:
            raise InputError(f"reference: expected seconds, at least 0, got {self.reference}")
        if self.nearest and (self.reference is None or len(self.points) < 3):
            raise InputError("nearest: needs `reference` and at least 3 mapped markers to align")
        if self.place_by and len(set(self.place_by)) < 3:
            raise InputError(f"place_by: expected at least three markers, got {len(set(self.place_by))}")

    def motion(self, markers: Markers, skeleton: Skeleton, rate: float | None = None) -> MappedMotion:
        """Return the motion of a skeleton's control points from a take, at a `rate`, or at that of the take."""
        pairs = self._pairs(markers, skeleton)
        moving, joints = list(pairs), [skeleton.index(point) for point in pairs.values()]
        align_names = list(dict.fromkeys(self.place_by)) or moving
        take = filled(trimmed(markers.chosen(list(dict.fromkeys([*moving, *align_names]))), self.trim), self.longest)
        take = take if rate is None else take.resampled(rate)
        rest = skeleton.rest_world[joints, :3, 3]
        frame = self._reference(take.chosen(moving), take.chosen(align_names), rest)
        if not self.force:
            _require_similar(take.chosen(moving).positions[frame], rest, moving)
        # From here on every marker has a position, seen or not.
        whole, coarse_alignment = complete(
            take, take.positions[frame], np.isin(take.names, align_names), self.hold, self.fade
        )
        moved, kept = whole.chosen(moving), whole.chosen(align_names)
        size = self.size or float(_spread(rest) / _spread(moved.positions[frame]))
        goal = _aligned_to_rest(size * kept.positions[frame], size * moved.positions[frame], rest)
        alignment = align_take(replace(kept, positions=size * kept.positions), goal, smooth=self.smooth)
        aligned = alignment(size * moved.positions)
        offsets = rest - aligned[frame]
        translations = aligned - rest + (offsets if self.offsets else 0.0)
        motion = _motion(skeleton, joints, translations, take.times, alignment if self.keep_whole else None)
        offset = float(np.linalg.norm(offsets, axis=1).max())
        measured = markers if rate is None else markers.resampled(rate)
        positions = size * measured.positions
        shown = replace(
            measured, positions=positions if self.keep_whole else alignment(positions), unit=markers.unit / size
        )
        return MappedMotion(motion, frame / take.rate, size, alignment, coarse_alignment.known, offset, shown)

    def _pairs(self, markers: Markers, skeleton: Skeleton) -> dict[str, str]:
        """Return the control point of each marker that moves one; every control point has a marker."""
        pairs = dict(self.points) or {name: name for name in markers.names if name in skeleton.names}
        kind = _kind(skeleton)
        if not pairs:
            known, wanted = (", ".join(map(repr, names[:4])) for names in (markers.names, skeleton.names))
            raise InputError(
                f"markers: none of {known}, ... has the name of a {kind} ({wanted}, ...); "
                f"map markers to {kind}s in a file, given as `markers`"
            )
        for marker, point in pairs.items():
            markers.index(marker)
            skeleton.index(point)
        if len(set(pairs.values())) < len(pairs):
            twice = next(point for point in pairs.values() if list(pairs.values()).count(point) > 1)
            raise InputError(f"{kind} {twice!r}: expected one marker that moves it, got two")
        if self.nearest:
            pairs |= self._nearest(markers, skeleton, pairs)
        below = [name for name, parent in zip(skeleton.names, skeleton.parents, strict=True) if parent >= 0]
        idle = [name for name in below if name not in pairs.values()]
        if idle:
            remedy = "map one in the file given as `markers`, or fit a skin whose points all have a marker"
            raise InputError(f"{kind} {idle[0]!r}: no marker moves it; {remedy}")
        return pairs

    def _nearest(self, markers: Markers, skeleton: Skeleton, pairs: dict[str, str]) -> dict[str, str]:
        """Return the point of each nearest marker, for points without one; the sum of distances is least."""
        from scipy.optimize import linear_sum_assignment

        below = [name for name, parent in zip(skeleton.names, skeleton.parents, strict=True) if parent >= 0]
        idle = [name for name in below if name not in pairs.values()]
        frame = min(round((self.reference or 0.0) * markers.rate), len(markers) - 1)
        free = [name for k, name in enumerate(markers.names) if name not in pairs and markers.seen[frame, k]]
        if len(free) < len(idle):
            raise InputError(f"nearest: expected {len(idle)} more markers at the reference, got {len(free)}")
        mapped, joint_positions = markers.chosen(list(pairs)), skeleton.rest_world[:, :3, 3]
        if not mapped.seen[frame].all():
            raise InputError(f"reference: at {self.reference:g} s not all markers in `points` are seen")
        rest = joint_positions[[skeleton.index(point) for point in pairs.values()]]
        size = self.size or float(_spread(rest) / _spread(mapped.positions[frame]))
        loose = markers.chosen(free).positions[frame]
        aligned_markers = _aligned_to_rest(size * loose, size * mapped.positions[frame], rest)
        wanted = joint_positions[[skeleton.index(point) for point in idle]]
        rows, columns = linear_sum_assignment(np.linalg.norm(aligned_markers[:, None] - wanted, axis=2))
        return {free[row]: idle[column] for row, column in zip(rows, columns, strict=True)}

    def _reference(self, moved: Markers, kept: Markers, rest: Floats) -> int:
        """Return the frame that shows the rest shape, points at `rest` (M, 3); all markers are seen there."""
        frames = np.flatnonzero(moved.seen.all(axis=1) & kept.seen.all(axis=1))
        if not len(frames):
            seldom = moved.names[int(moved.seen.mean(axis=0).argmin())]
            raise InputError(f"markers: no frame shows all of them at once; {seldom!r} is seen least")
        if self.reference is not None:
            nearest = int(frames[np.abs(frames / moved.rate - self.reference).argmin()])
            if abs(nearest / moved.rate - self.reference) > 1 / moved.rate:
                seconds = f"{self.reference:g} s; the nearest such time is {nearest / moved.rate:g} s"
                raise InputError(f"reference: expected a time at which all markers are seen, got {seconds}")
            return nearest
        shapes = moved.positions[frames]
        sizes = _spread(rest) / _spread(shapes) if self.size is None else np.full(len(frames), self.size)
        scaled = sizes[:, None, None] * shapes
        rotation, translation = rigid(scaled, rest, equal_shares(np.ones(len(rest), dtype=bool)))
        gaps = scaled @ np.swapaxes(rotation, 1, 2) + translation[:, None] - rest
        return int(frames[(gaps**2).sum(axis=(1, 2)).argmin()])


@dataclass(frozen=True, eq=False)
class MappedMotion:
    """A motion of control points, and how it was made from markers.

    Parameters
    ----------
    motion : the motion
    reference : seconds into the take at which it shows the rest shape
    size : factor on the take's lengths
    alignment : the rigid motion that was removed
    known : (F,) bool, whether enough markers were seen in a frame to align it
    offset : the largest distance of a point from its marker at the reference, in the skin's unit
    markers : all markers of the take at the times of the motion, as they were measured, in the space of the points
    """

    motion: Motion
    reference: float
    size: float
    alignment: TakeAlignment
    known: NDArray[np.bool_]
    offset: float
    markers: Markers

    def notes(self) -> list[str]:
        """Return notes for the user on how the take was used, one line each."""
        lost = int((~self.known).sum())
        lines = [
            f"lengths are multiplied by {self.size:.4g}; the rest shape is at {self.reference:g} s, "
            f"where points are up to {self.offset:.3g} from their markers"
        ]
        return lines + ([f"in {lost} frames too few markers were seen to align them"] if lost else [])


def _kind(skeleton: Skeleton) -> str:
    """Return "control point" where all joints hang from one root, else "joint": for messages."""
    flat = len(skeleton) > 1 and skeleton.parents[0] < 0 and not skeleton.parents[1:].any()
    return "control point" if flat else "joint"


def _spread(points: Floats) -> Floats:
    """Return (...) the root mean square distance of points (..., M, 3) from their middle."""
    gaps = points - points.mean(axis=-2, keepdims=True)
    return np.asarray(np.maximum(np.sqrt((gaps**2).sum(axis=-1).mean(axis=-1)), 1e-300))


def _require_similar(positions: Floats, rest: Floats, names: Sequence[str]) -> None:
    """Raise where markers (M, 3) at the reference cannot correspond to the points at `rest` (M, 3)."""
    wrong = Pairing(rest, positions * (_spread(rest) / _spread(positions))).problem(names, "marker")
    if wrong:
        raise InputError(f"markers: {wrong}; correct `points`, or keep them with `force`")


def _aligned_to_rest(markers: Floats, moved: Floats, rest: Floats) -> Floats:
    """Return markers (K, 3) at the reference, aligned to the rest shape.

    The alignment is that of the markers that move points, `moved` (M, 3), to these points at `rest` (M, 3).
    """
    shares = equal_shares(np.ones(len(rest), dtype=bool))
    if not (spans_plane(rest, shares) and spans_plane(moved, shares)):
        raise InputError("markers: expected three or more that move points, not in a line, to align the take")
    rotation, translation = rigid(moved, rest, shares)
    return np.asarray(markers @ rotation.T + translation)


def _motion(
    skeleton: Skeleton, joints: list[int], translations: Floats, times: Floats, whole: TakeAlignment | None
) -> Motion:
    """Return the motion in which joints are translated from rest by `translations` (F, M, 3) in the world."""
    world = np.tile(skeleton.rest_world, (len(translations), 1, 1, 1))
    joint_positions = world[..., :3, 3]
    joint_positions[:, joints] += translations
    if whole is not None:
        moved = np.tile(np.eye(4), (len(translations), 1, 1))
        inverse = rotations.matrices(rotations.inverse(whole.rotations))
        moved[:, :3, :3], moved[:, :3, 3] = inverse, -np.einsum("fij,fj->fi", inverse, whole.translations)
        world = moved[:, None] @ world
    return Motion.from_world(skeleton, world, times)
