"""A take of markers becomes a motion of control points: joints that only shift."""

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
    """How markers move control points.

    Parameters
    ----------
    points : control point by marker: ``{"index_tip": "index tip"}``; empty: markers move the points of their names
    nearest : whether a point that `points` does not name is moved by the marker that is nearest to it at the reference,
        once those that it names, three or more, are brought to theirs; `reference` must then be given
    place_by : markers whose distances hardly change, at least three off one line; they need not move points. Their
        rigid motion is that of the whole. Empty: all markers that move points
    size : what the take's lengths are multiplied by, above 0. None: the ratio of the points' spread to the markers',
        at the reference, so that units and sizes of hands may differ
    reference : seconds into the take at which it shows the rest shape. None: the frame that is most like it
    offsets : whether each point keeps the distance that it has from its marker at the reference; otherwise points go
        where the markers are
    trim : seconds beside each gap in which a marker is not trusted either
    longest : seconds; shorter gaps are filled
    hold : seconds into a longer gap in which a point keeps what the other points do not say of it
    fade : seconds within which that then goes, until the point does what the others say, or is as at the reference
        where none is seen
    smooth : seconds over which the rigid motion of the whole is averaged
    keep_whole : whether the motion of the whole is kept, on the root; otherwise the whole stays where it rests
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
        """Return the motion of a skeleton's control points that a take makes, at a `rate`, or at its own."""
        pairs = self._pairs(markers, skeleton)
        moving, joints = list(pairs), [skeleton.index(point) for point in pairs.values()]
        by = list(dict.fromkeys(self.place_by)) or moving
        take = filled(trimmed(markers.chosen(list(dict.fromkeys([*moving, *by]))), self.trim), self.longest)
        take = take if rate is None else take.resampled(rate)
        rest = skeleton.rest_world[joints, :3, 3]
        frame = self._reference(take.chosen(moving), take.chosen(by), rest)
        if not self.force:
            _require_alike(take.chosen(moving).positions[frame], rest, moving)
        # Seen or not, every marker has a place from here on.
        whole, lie = complete(take, take.positions[frame], np.isin(take.names, by), self.hold, self.fade)
        moved, kept = whole.chosen(moving), whole.chosen(by)
        size = self.size or float(_spread(rest) / _spread(moved.positions[frame]))
        goal = _brought(size * kept.positions[frame], size * moved.positions[frame], rest)
        found = align_take(replace(kept, positions=size * kept.positions), goal, smooth=self.smooth)
        placed = found(size * moved.positions)
        own = rest - placed[frame]
        shifts = placed - rest + (own if self.offsets else 0.0)
        motion = _motion(skeleton, joints, shifts, take.times, found if self.keep_whole else None)
        return MappedMotion(motion, frame / take.rate, size, found, lie.known, float(np.linalg.norm(own, axis=1).max()))

    def _pairs(self, markers: Markers, skeleton: Skeleton) -> dict[str, str]:
        """Return the control point of each marker that moves one; every control point has a marker."""
        pairs = dict(self.points) or {name: name for name in markers.names if name in skeleton.names}
        kind = _kind(skeleton)
        if not pairs:
            some, have = (", ".join(map(repr, names[:4])) for names in (markers.names, skeleton.names))
            raise InputError(
                f"markers: none of {some}, ... is called as a {kind} ({have}, ...); "
                f"say which marker moves which {kind} in a file, given as `markers`"
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
            remedy = "name one in the file given as `markers`, or fit a skin whose points all have a marker"
            raise InputError(f"{kind} {idle[0]!r}: no marker moves it; {remedy}")
        return pairs

    def _nearest(self, markers: Markers, skeleton: Skeleton, pairs: dict[str, str]) -> dict[str, str]:
        """Return the nearest marker's point for each point without one, so that the distances sum to the least."""
        from scipy.optimize import linear_sum_assignment

        below = [name for name, parent in zip(skeleton.names, skeleton.parents, strict=True) if parent >= 0]
        idle = [name for name in below if name not in pairs.values()]
        frame = min(round((self.reference or 0.0) * markers.rate), len(markers) - 1)
        free = [name for k, name in enumerate(markers.names) if name not in pairs and markers.seen[frame, k]]
        if len(free) < len(idle):
            raise InputError(f"nearest: expected {len(idle)} more markers at the reference, got {len(free)}")
        given, places = markers.chosen(list(pairs)), skeleton.rest_world[:, :3, 3]
        if not given.seen[frame].all():
            raise InputError(f"reference: at {self.reference:g} s not all markers that points names are seen")
        rest = places[[skeleton.index(point) for point in pairs.values()]]
        size = self.size or float(_spread(rest) / _spread(given.positions[frame]))
        loose = markers.chosen(free).positions[frame]
        brought = _brought(size * loose, size * given.positions[frame], rest)
        wanted = places[[skeleton.index(point) for point in idle]]
        rows, columns = linear_sum_assignment(np.linalg.norm(brought[:, None] - wanted, axis=2))
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
        turn, shift = rigid(scaled, rest, equal_shares(np.ones(len(rest), dtype=bool)))
        apart = scaled @ np.swapaxes(turn, 1, 2) + shift[:, None] - rest
        return int(frames[(apart**2).sum(axis=(1, 2)).argmin()])


@dataclass(frozen=True, eq=False)
class MappedMotion:
    """A motion of control points, and how it came from its markers.

    Parameters
    ----------
    motion : the motion
    reference : seconds into the take at which it shows the rest shape
    size : what its lengths were multiplied by
    placement : the rigid motion that was taken out of it
    known : (F,) bool, whether enough markers were seen in a frame to know where it lies
    offset : the largest distance of a point from its marker at the reference, in the skin's unit
    """

    motion: Motion
    reference: float
    size: float
    placement: TakeAlignment
    known: NDArray[np.bool_]
    offset: float

    def notes(self) -> list[str]:
        """Return what a user should know of how the take was used, one line each."""
        lost = int((~self.known).sum())
        lines = [
            f"lengths are multiplied by {self.size:.4g}; the rest shape is at {self.reference:g} s, "
            f"where points are up to {self.offset:.3g} from their markers"
        ]
        return lines + ([f"in {lost} frames too few markers were seen to know where it lies"] if lost else [])


def _kind(skeleton: Skeleton) -> str:
    """Return what the joints of a skeleton are called: those that all hang on one root and never turn are points."""
    flat = len(skeleton) > 1 and skeleton.parents[0] < 0 and not skeleton.parents[1:].any()
    return "control point" if flat else "joint"


def _spread(points: Floats) -> Floats:
    """Return (...) the root mean square distance of points (..., M, 3) from their middle."""
    apart = points - points.mean(axis=-2, keepdims=True)
    return np.asarray(np.maximum(np.sqrt((apart**2).sum(axis=-1).mean(axis=-1)), 1e-300))


def _require_alike(positions: Floats, rest: Floats, names: Sequence[str]) -> None:
    """Raise where markers (M, 3) at the reference cannot be those of the points at `rest` (M, 3)."""
    wrong = Pairing(rest, positions * (_spread(rest) / _spread(positions))).problem(names, "marker")
    if wrong:
        raise InputError(f"markers: {wrong}; correct which moves which in `points`, or keep them with `force`")


def _brought(markers: Floats, moved: Floats, rest: Floats) -> Floats:
    """Return markers (K, 3) at the reference, brought to the rest shape as those that move points are to these.

    Both `moved` and `rest` are (M, 3).
    """
    shares = equal_shares(np.ones(len(rest), dtype=bool))
    if not (spans_plane(rest, shares) and spans_plane(moved, shares)):
        raise InputError("markers: expected three or more that move points, off one line, to place the take by")
    turn, shift = rigid(moved, rest, shares)
    return np.asarray(markers @ turn.T + shift)


def _motion(
    skeleton: Skeleton, joints: list[int], shifts: Floats, times: Floats, whole: TakeAlignment | None
) -> Motion:
    """Return the motion in which joints are shifted from rest by `shifts` (F, M, 3) in the world."""
    world = np.tile(skeleton.rest_world, (len(shifts), 1, 1, 1))
    places = world[..., :3, 3]
    places[:, joints] += shifts
    if whole is not None:
        moved = np.tile(np.eye(4), (len(shifts), 1, 1))
        back = rotations.matrices(rotations.inverse(whole.turns))
        moved[:, :3, :3], moved[:, :3, 3] = back, -np.einsum("fij,fj->fi", back, whole.shifts)
        world = moved[:, None] @ world
    return Motion.from_world(skeleton, world, times)
