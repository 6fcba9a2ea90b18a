"""Plans: which layers a set of poses makes, over which pose spaces, with which samples. No shapes are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError, suggestion
from posespace.interpolate.distances import distances
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.active import Active, active_in_poses, active_in_space, active_names, space_of
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig

# A sample this near to one held at zero, as a fraction of its distance from rest, would make the correction jump.
_NEAR = 0.05
_COINCIDENT = 1e-9
REST = "the rest pose"


@dataclass(frozen=True, eq=False)
class LayerPlan:
    """The pose space and the samples of one layer.

    Parameters
    ----------
    controls : names of what its examples move
    moves, reach : what its examples move from the rest shape, and what its space spans; empty for a given space
    space : the pose space that its examples span, or a wider one
    examples : indices of its examples
    centres : (M, D) its examples, then the samples where it is zero
    held : for each sample where it is zero, the earlier examples at that position; none for the rest pose
    rest : index of the sample at the rest pose, where it is zero, or None
    twin : number of earlier layers with the same name
    """

    controls: tuple[str, ...]
    moves: Active
    reach: Active
    space: PoseSpace
    examples: tuple[int, ...]
    centres: Floats
    held: tuple[tuple[int, ...], ...]
    rest: int | None
    twin: int = 0

    @property
    def name(self) -> str:
        """The layer's name: its controls, shortened where they are many."""
        shown = self.controls if len(self.controls) <= 4 else (*self.controls[:3], f"{len(self.controls) - 3} more")
        return " + ".join(shown) + (f" #{self.twin + 1}" if self.twin else "")

    @property
    def axes(self) -> tuple[str, ...]:
        """What each axis of the space is called."""
        return self.space.names

    def sample_names(self, names: Sequence[str]) -> list[str]:
        """Return what each centre is called in a message."""
        held = [names[numbers[0]] if numbers else REST for numbers in self.held]
        return [*(names[number] for number in self.examples), *held]


def check_in_space(rig: Rig, name: str, pose: Pose, space: PoseSpace) -> None:
    """Raise where a pose moves a control that `space` lacks, or nothing of `space`: it would be at rest there."""
    motion = Motion.from_poses([pose], [name])
    (active,) = active_in_poses(rig, motion, shown=True)
    known = space.controls(rig.skeleton)
    foreign = sorted(control for control in active if isinstance(control, str) and control not in known)
    if known and foreign:
        close = suggestion(foreign[0], known)
        raise InputError(f"sculpt {name!r}: its control {foreign[0]!r} is not in the pose space{close}")
    if not active:
        return
    if not active_in_space(rig, motion, space)[0]:
        what = active_names(active, rig.skeleton)[0]
        raise InputError(
            f"sculpt {name!r}: it moves {what!r} but nothing of the pose space, where it would replace the rest shape"
            f"{suggestion(what, space.names)}"
        )


def plan_layers(
    rig: Rig,
    motion: Motion,
    silent: NDArray[np.bool_],
    clip: NDArray[np.bool_],
    space: PoseSpace | None = None,
    anchor: bool = True,
) -> list[LayerPlan]:
    """Plan the layers of the poses in their order.

    `silent` (P,) marks the examples that plain skinning reproduces, `clip` (P,) those that are fitted as clips.
    """
    moves = active_in_poses(rig, motion, shown=True)
    if not any(moves):
        raise InputError("examples: no pose differs from rest, so there is nothing to interpolate over")
    away = active_in_poses(rig, motion)
    # A rest pose with the rest shape is the same sample as the anchor.
    active = [index for index, controls in enumerate(away) if (controls or not silent[index]) and not clip[index]]
    anchor = anchor or len(active) < len(motion)
    if space is not None:
        return [_single_plan(rig, motion, space, active, anchor)]
    groups: dict[Active, list[int]] = {}
    for index in active:
        if moves[index]:
            groups.setdefault(moves[index], []).append(index)
    if not groups:
        return []
    next(iter(groups.values())).extend(index for index in active if not moves[index])
    plans, earlier = list[LayerPlan](), list[int]()
    for controls, examples in groups.items():
        plan = _plan(rig, motion, away, controls, examples, earlier, anchor)
        twins = sum(plan.name == replace(other, twin=0).name for other in plans)
        plans.append(replace(plan, twin=twins))
        earlier += examples
    return plans


def _single_plan(rig: Rig, motion: Motion, space: PoseSpace, examples: list[int], anchor: bool) -> LayerPlan:
    """All examples in one given space."""
    centres = space.coordinates(motion, rig.skeleton)[examples]
    held: tuple[tuple[int, ...], ...] = ()
    if anchor:
        still = space.coordinates(rig.rest, rig.skeleton)[None]
        gaps = distances(centres, still, space.metric)
        if gaps.min() > _COINCIDENT * gaps.max():
            centres, held = np.vstack([centres, still]), ((),)
    rest = len(examples) if held else None
    return LayerPlan(space.names, frozenset(), frozenset(), space, tuple(examples), centres, held, rest)


def _plan(
    rig: Rig,
    motion: Motion,
    away: list[Active],
    controls: Active,
    examples: list[int],
    earlier: list[int],
    anchor: bool,
) -> LayerPlan:
    reach = controls
    while True:
        touching = [index for index in earlier if away[index] & reach]
        space = space_of(rig, reach, motion[examples + touching])
        coordinates = space.coordinates(motion, rig.skeleton)
        still = space.coordinates(rig.rest, rig.skeleton)[None]
        gaps = distances(coordinates[examples], coordinates[touching], space.metric)
        near = np.any(gaps <= _NEAR * distances(coordinates[examples], still, space.metric), axis=0).tolist()
        wider = reach.union(*(away[index] for index, close in zip(touching, near, strict=True) if close))
        if wider == reach:
            break
        reach = wider
    # Without an anchor the rest pose is still held where an earlier example rests in this space.
    rests = (anchor or len(touching) < len(earlier)) and all(away[index] & reach for index in examples)
    groups = [[touching[k] for k in group] for group in _coincident(coordinates[touching], space.metric)]
    centres = np.vstack([coordinates[examples], still[: int(rests)], coordinates[[group[0] for group in groups]]])
    held = (*([()] if rests else []), *(tuple(group) for group in groups))
    return LayerPlan(
        active_names(controls, rig.skeleton),
        frozenset().union(*(away[index] for index in examples)),
        reach,
        space,
        tuple(examples),
        centres,
        held,
        len(examples) if rests else None,
    )


def _coincident(points: Floats, metric: str) -> list[list[int]]:
    """Group the points (M, D) that coincide."""
    if not len(points):
        return []
    gaps = distances(points, points, metric)
    first = (gaps <= _COINCIDENT * gaps.max()).argmax(axis=1)
    return [np.flatnonzero(first == index).tolist() for index in np.unique(first)]
