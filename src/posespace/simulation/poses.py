"""The poses to simulate: those of a file, or every joint's range in steps and random poses of all joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.poses.active import at_rest
from posespace.rig import Rig
from posespace.simulation.bodies.body import Accept
from posespace.simulation.settings import Settings
from posespace.skeleton import Skeleton

AXES = "xyz"
"""Names of a joint's first, second and third axis in the names of poses."""

STEP = 18.0
"""Degrees between the poses of a joint's range by default."""

_APART = 1.0
"""The least difference in degrees between a drawn angle and every other angle of its degree of freedom."""

_BATCH = 64
_MOST_BATCHES = 400


def poses_to_simulate(
    rig: Rig, settings: Settings, accept: Accept | None = None, note: Callable[[str], None] | None = None
) -> Motion:
    """Return the chosen poses of the settings' file, or joint ranges and random poses; the rest pose is among them."""
    skeleton = rig.skeleton
    if settings.poses is not None:
        poses = settings.choice.load(settings.poses, skeleton, note=note)
    elif skeleton.limits is None:
        raise InputError(
            "the joints have no limits to step through; give them by `posespace limits`, or a file of poses by `poses`"
        )
    else:
        ranges = joint_ranges(skeleton, settings.step)
        drawn = random_poses(skeleton, settings.random, settings.seed, accept=accept)
        both = np.concatenate([ranges.rotations, drawn.rotations])
        poses = Motion(both, names=(*ranges.names, *drawn.names)).named(*settings.choice.only)
    if at_rest(rig, poses).any():
        return poses
    return Motion.from_poses([rig.rest, *poses], ["rest", *poses.names])


def joint_ranges(skeleton: Skeleton, step: float = STEP) -> Motion:
    """Return the rest pose, then each degree of freedom alone from rest to its limits.

    Each side of a range is divided into equal steps of at most `step` degrees.
    """
    single_angles: list[tuple[int, int, float]] = []
    for joint, axis in freedoms(skeleton):
        low, high = _stops(skeleton, joint, axis, step)
        single_angles += [(joint, axis, degrees) for degrees in (*low, *high)]
    rest = np.zeros((1, len(skeleton), 3))
    angles, names = _single(skeleton, single_angles)
    return _motion(skeleton, np.concatenate([rest, angles]), ["rest", *names])


def single_draws(skeleton: Skeleton, seed: int, step: float = STEP) -> Motion:
    """Return poses of single angles, over the whole of every range, that `joint_ranges` with the same `step` lacks.

    Three for each degree of freedom: the middle of the first and of the last interval of its range, and one angle
    drawn uniformly from the whole range, at least a degree away from every other one. A range of a single interval has
    one middle; a range without room for a draw has none.
    """
    generator = np.random.default_rng(seed)
    single_angles: list[tuple[int, int, float]] = []
    for joint, axis in freedoms(skeleton):
        low, high = _stops(skeleton, joint, axis, step)
        stops = sorted([*low, 0.0, *high])
        middles = sorted({(stops[0] + stops[1]) / 2, (stops[-2] + stops[-1]) / 2})
        drawn = _draw(sorted([*stops, *middles]), generator.uniform())
        single_angles += [(joint, axis, degrees) for degrees in sorted([*middles, *drawn])]
    angles, names = _single(skeleton, single_angles)
    return _motion(skeleton, angles, [f"between {name}" for name in names])


def random_poses(
    skeleton: Skeleton, count: int, seed: int, fraction: float = 1.0, accept: Accept | None = None
) -> Motion:
    """Return poses that rotate every joint, each degree of freedom drawn uniformly from its whole range.

    Parameters
    ----------
    skeleton : with limits
    count : number of poses
    seed : the first poses of a seed are the same for every `count`
    fraction : fraction of each range to draw from
    accept : which poses to keep. Others are drawn again as a whole, so that the kept ones are uniform over what is
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
    """Return joint and axis of each degree of freedom that has a range; those without limits are skipped.

    Raises where none has limits, and where one is limited on one side only.
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
    """Degrees from rest to the lower limit, and from rest to the upper one, in equal steps; rest is not among them."""
    if not step > 0:
        raise InputError(f"step: expected above 0 degrees, got {step}")
    assert skeleton.limits is not None
    low, high = np.degrees(skeleton.limits[joint, axis]).tolist()
    counts = [int(np.ceil(abs(limit) / step - 1e-9)) for limit in (low, high)]
    below, above = (
        [limit * part / count for part in range(1, count + 1)] for limit, count in zip((low, high), counts, strict=True)
    )
    return below, above


def _draw(taken: Sequence[float], fraction: float) -> list[float]:
    """The angle at a `fraction`, 0 to 1, of what a range has left a degree away from its `taken` angles, if any."""
    starts = np.array(taken[:-1]) + _APART
    room = np.maximum(np.array(taken[1:]) - _APART - starts, 0)
    before = np.concatenate([[0.0], np.cumsum(room)])
    if before[-1] == 0:
        return []
    offset = fraction * before[-1]
    gap = int(np.searchsorted(before, offset, side="right")) - 1
    return [float(starts[gap] + offset - before[gap])]


def _single(skeleton: Skeleton, single_angles: Sequence[tuple[int, int, float]]) -> tuple[Floats, list[str]]:
    """Poses (P, J, 3) in radians that each rotate one joint about one axis by some degrees, and their names."""
    angles = np.zeros((len(single_angles), len(skeleton), 3))
    for number, (joint, axis, degrees) in enumerate(single_angles):
        angles[number, joint, axis] = np.radians(degrees)
    return angles, [f"{skeleton.names[joint]}.{AXES[axis]} {degrees:+.0f}" for joint, axis, degrees in single_angles]


def _motion(skeleton: Skeleton, angles: Floats, names: list[str]) -> Motion:
    return Motion(skeleton.rotations(angles), names=tuple(names))
