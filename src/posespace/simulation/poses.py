"""Which poses to simulate: every joint's range in steps, single angles unseen in those, and random poses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.skeleton import Skeleton

AXES = "xyz"
"""What the names of poses call a joint's first, second and third axis."""

STEP = 18.0
"""Degrees between the poses of a joint's range, unless told."""

Accept = Callable[[Floats], NDArray[np.bool_]]
"""Which of some poses may be kept (P,), by the angles (P, J, 3) in radians that their joints turn from rest."""

_APART = 1.0
"""Degrees that a drawn angle keeps from every other angle of its degree of freedom."""

_BATCH = 64
_MOST_BATCHES = 400


def joint_ranges(skeleton: Skeleton, step: float = STEP) -> Motion:
    """Return the rest pose, then each degree of freedom alone through its limits, outwards from rest.

    Each side of a range is divided into equal steps of at most `step` degrees.
    """
    turns: list[tuple[int, int, float]] = []
    for joint, axis in freedoms(skeleton):
        low, high = _stops(skeleton, joint, axis, step)
        turns += [(joint, axis, degrees) for degrees in (*low, *high)]
    rest = np.zeros((1, len(skeleton), 3))
    angles, names = _single(skeleton, turns)
    return _motion(skeleton, np.concatenate([rest, angles]), ["rest", *names])


def single_draws(skeleton: Skeleton, seed: int, step: float = STEP) -> Motion:
    """Return single angles that `joint_ranges` with the same `step` lacks, from the whole of every range.

    Three for each degree of freedom: the middle of the first and of the last interval of its range, and one angle
    drawn uniformly from the whole range, less what lies within a degree of a fitted angle or of those two. A range of
    a single interval has one middle, and one with no room left has no draw.
    """
    generator = np.random.default_rng(seed)
    turns: list[tuple[int, int, float]] = []
    for joint, axis in freedoms(skeleton):
        low, high = _stops(skeleton, joint, axis, step)
        stops = sorted([*low, 0.0, *high])
        middles = sorted({(stops[0] + stops[1]) / 2, (stops[-2] + stops[-1]) / 2})
        drawn = _draw(sorted([*stops, *middles]), generator.uniform())
        turns += [(joint, axis, degrees) for degrees in sorted([*middles, *drawn])]
    angles, names = _single(skeleton, turns)
    return _motion(skeleton, angles, [f"between {name}" for name in names])


def random_poses(
    skeleton: Skeleton, count: int, seed: int, fraction: float = 1.0, accept: Accept | None = None
) -> Motion:
    """Return poses that turn every joint at once, each degree of freedom uniformly over its whole range, ends included.

    Parameters
    ----------
    skeleton : with limits
    count : how many
    seed : the first poses of a seed are the same for every `count`
    fraction : of each range that is drawn from
    accept : which poses to keep; others are drawn again as a whole, so that the kept ones are uniform over what is
        accepted. None keeps all
    """
    joints, axes = np.array(freedoms(skeleton), dtype=np.int64).reshape(-1, 2).T
    assert skeleton.limits is not None
    low, high = fraction * skeleton.limits[joints, axes].T

    def draw(generator: np.random.Generator) -> Floats:
        angles = np.zeros((_BATCH, len(skeleton), 3))
        angles[:, joints, axes] = generator.uniform(low, high, (_BATCH, len(low)))
        return angles

    angles = accepted(draw, count, seed, accept)
    return _motion(skeleton, angles, [f"random {k}" for k in range(count)])


def accepted(draw: Callable[[np.random.Generator], Floats], count: int, seed: int, accept: Accept | None) -> Floats:
    """Return the first `count` poses of a seed that are accepted, as angles (count, J, 3), by rejection sampling."""
    generator = np.random.default_rng(seed)
    kept: list[Floats] = []
    for _ in range(_MOST_BATCHES + count):
        if len(kept) >= count:
            return np.stack(kept[:count]) if count else draw(generator)[:0]
        batch = draw(generator)
        kept += list(batch if accept is None else batch[accept(batch)])
    raise InputError(f"random poses: expected {count} that are accepted, got {len(kept)}; narrow the joints' limits")


def freedoms(skeleton: Skeleton) -> list[tuple[int, int]]:
    """Return joint and axis of each degree of freedom that has a range; those without limits are left out.

    Raises where none has limits, and where one is limited to one side only.
    """
    if skeleton.limits is None:
        raise InputError("skeleton: expected joint limits, got none; give the poses to simulate in a file")
    low, high = skeleton.limits[..., 0], skeleton.limits[..., 1]
    open_range = (high > low) & (np.isfinite(low) | np.isfinite(high))
    if skeleton.axes is not None:
        open_range &= np.abs(skeleton.axes).max(axis=2) > 0
    has_none = not open_range.any() and not np.isfinite(skeleton.limits).all()
    if has_none or not np.isfinite(skeleton.limits[open_range]).all():
        raise InputError("skeleton limits: expected finite ranges; give the poses to simulate in a file")
    return [(int(joint), int(axis)) for joint, axis in np.argwhere(open_range)]


def _stops(skeleton: Skeleton, joint: int, axis: int, step: float) -> tuple[list[float], list[float]]:
    """Degrees from rest to the lower limit, then to the higher, in equal steps outwards; rest is not among them."""
    if not step > 0:
        raise InputError(f"step: expected above 0 degrees, got {step}")
    assert skeleton.limits is not None
    low, high = np.degrees(skeleton.limits[joint, axis]).tolist()
    counts = [int(np.ceil(abs(limit) / step - 1e-9)) for limit in (low, high)]
    below, above = (
        [limit * part / count for part in range(1, count + 1)] for limit, count in zip((low, high), counts, strict=True)
    )
    return below, above


def _draw(taken: Sequence[float], share: float) -> list[float]:
    """The angle at a `share`, 0 to 1, of what a range has left a degree away from its `taken` angles, if anything."""
    starts = np.array(taken[:-1]) + _APART
    room = np.maximum(np.array(taken[1:]) - _APART - starts, 0)
    before = np.concatenate([[0.0], np.cumsum(room)])
    if before[-1] == 0:
        return []
    place = share * before[-1]
    gap = int(np.searchsorted(before, place, side="right")) - 1
    return [float(starts[gap] + place - before[gap])]


def _single(skeleton: Skeleton, turns: Sequence[tuple[int, int, float]]) -> tuple[Floats, list[str]]:
    """Poses (P, J, 3) in radians that each turn one joint about one axis by some degrees, and their names."""
    angles = np.zeros((len(turns), len(skeleton), 3))
    for number, (joint, axis, degrees) in enumerate(turns):
        angles[number, joint, axis] = np.radians(degrees)
    return angles, [f"{skeleton.names[joint]}.{AXES[axis]} {degrees:+.0f}" for joint, axis, degrees in turns]


def _motion(skeleton: Skeleton, angles: Floats, names: list[str]) -> Motion:
    return Motion(skeleton.rotations(angles), names=tuple(names))
