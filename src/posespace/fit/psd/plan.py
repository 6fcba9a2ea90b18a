"""Which layers a set of poses makes, over which pose spaces, and where the samples of each lie. No shapes here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError, closest_name
from posespace.interpolate.distances import distances
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import DIALLED, Rig
from posespace.spaces import AXES, PoseSpace

Controls = frozenset[int | str]
"""Joints by number and controls by name."""

_SHIFTED = 1e-4  # of the mesh's diagonal: a joint shifted less is where it was
# A sample this near to one held at zero, as a part of its distance from rest, would make the correction jump.
_NEAR = 0.05
_COINCIDENT = 1e-9
REST = "the rest pose"


@dataclass(frozen=True, eq=False)
class Plan:
    """Where the samples of one layer lie.

    Parameters
    ----------
    controls : names of what its examples move
    moves, reach : what its examples have away from the bound pose, and what its space spans; empty for a given space
    space : the pose space they span, or a wider one
    own : its examples by number
    centres : (M, D) its own examples, then the samples that it holds at zero
    held : for each sample held at zero the earlier examples it stands for, none for the rest pose
    rest : the sample held at zero in the rest pose, by number, or None
    """

    controls: tuple[str, ...]
    moves: Controls
    reach: Controls
    space: PoseSpace
    own: tuple[int, ...]
    centres: Floats
    held: tuple[tuple[int, ...], ...]
    rest: int | None

    @property
    def name(self) -> str:
        """The layer's name: its controls."""
        shown = self.controls if len(self.controls) <= 4 else (*self.controls[:3], f"{len(self.controls) - 3} more")
        return " + ".join(shown)

    @property
    def axes(self) -> tuple[str, ...]:
        """What each axis of the space is called."""
        return self.space.axes

    def sample_names(self, examples: Sequence[str]) -> list[str]:
        """Return what each centre is called in a message."""
        held = [examples[numbers[0]] if numbers else REST for numbers in self.held]
        return [*(examples[number] for number in self.own), *held]


def moved_controls(rig: Rig, motion: Motion) -> list[Controls]:
    """Return what each pose moves from rest; one that moves nothing but joint shifts raises.

    A joint rests as the mesh was bound or as the skeleton's file shows it: exporters often turn the root between them.
    """
    shown = Pose.rest(rig.skeleton)
    away = rig.turned(motion) & rig.turned(motion, shown)
    limit = _SHIFTED * rig.mesh.diagonal
    shifted = np.minimum(*(np.abs(motion.translations - rest.translations) for rest in (rig.rest, shown))) > limit
    found = _controls(motion, away)
    for index, controls in enumerate(found):
        if not controls and shifted[index].any():
            joint = rig.skeleton.names[int(shifted[index].any(axis=1).argmax())]
            raise InputError(
                f"pose {motion.names[index]!r}: it only shifts joints ({joint!r}), and a pose space knows rotations "
                "and controls; give the shift as a control too, or leave the pose out"
            )
    return found


def check_place(rig: Rig, name: str, pose: Pose, space: PoseSpace) -> None:
    """Refuse a pose that moves a control which `space` lacks, or nothing of `space`: it would lie at rest there."""
    (moved,) = moved_controls(rig, Motion.from_poses([pose], [name]))
    known = space.controls(rig.skeleton)
    foreign = [control for control in _sorted(moved) if isinstance(control, str) and control not in known]
    if known and foreign:
        close = closest_name(foreign[0], known)
        raise InputError(
            f"sculpt {name!r}: its control {foreign[0]!r} is not in the pose space; the closest is {close}"
        )
    if not moved or space.kind == "points":
        return
    where, still = (space.coordinates(one, rig.skeleton)[None] for one in (pose, rig.rest))
    if distances(where, still, space.metric)[0, 0] <= DIALLED:
        first = next(iter(_sorted(moved)))
        what = first if isinstance(first, str) else rig.skeleton.names[first]
        close = closest_name(what, space.names)
        raise InputError(
            f"sculpt {name!r}: it moves {what!r} but nothing of the pose space, where it would replace the rest shape; "
            f"the closest is {close}"
        )


def _controls(motion: Motion, turned: NDArray[np.bool_]) -> list[Controls]:
    """The joints marked in `turned` (P, J) and the controls that are not at zero, of each pose."""
    dialled = [[motion.control_names[k] for k in np.flatnonzero(row)] for row in np.abs(motion.controls) > DIALLED]
    return [frozenset((*np.flatnonzero(row).tolist(), *names)) for row, names in zip(turned, dialled, strict=True)]


def plan_layers(
    rig: Rig, motion: Motion, silent: NDArray[np.bool_], space: PoseSpace | None = None, anchor: bool = True
) -> list[Plan]:
    """Plan the layers of the poses in their order; `silent` (P,) marks the examples that plain skinning gives."""
    moved = moved_controls(rig, motion)
    if not any(moved):
        raise InputError("examples: no pose differs from rest, so there is nothing to interpolate over")
    away = _controls(motion, rig.turned(motion))
    # A rest pose with the rest shape is what the anchor says.
    loud = [index for index, controls in enumerate(away) if controls or not silent[index]]
    anchor = anchor or len(loud) < len(motion)
    if space is not None:
        return [_whole(rig, motion, space, loud, anchor)]
    groups: dict[Controls, list[int]] = {}
    for index in loud:
        if moved[index]:
            groups.setdefault(moved[index], []).append(index)
    next(iter(groups.values())).extend(index for index in loud if not moved[index])
    plans, earlier = [], list[int]()
    for controls, own in groups.items():
        plans.append(_layer(rig, motion, away, controls, own, earlier, anchor))
        earlier += own
    return plans


def _whole(rig: Rig, motion: Motion, space: PoseSpace, own: list[int], anchor: bool) -> Plan:
    """All examples in one given space."""
    centres = space.coordinates(motion, rig.skeleton)[own]
    held: tuple[tuple[int, ...], ...] = ()
    if anchor and space.kind != "points":
        still = space.coordinates(rig.rest, rig.skeleton)[None]
        gaps = distances(centres, still, space.metric)
        if gaps.min() > _COINCIDENT * gaps.max():
            centres, held = np.vstack([centres, still]), ((),)
    rest = len(own) if held else None
    return Plan(space.names, frozenset(), frozenset(), space, tuple(own), centres, held, rest)


def _layer(
    rig: Rig,
    motion: Motion,
    away: list[Controls],
    controls: Controls,
    own: list[int],
    earlier: list[int],
    anchor: bool,
) -> Plan:
    reach = controls
    while True:
        touching = [index for index in earlier if away[index] & reach]
        space = _span(rig, motion, reach, own + touching)
        where = space.coordinates(motion, rig.skeleton)
        still = space.coordinates(rig.rest, rig.skeleton)[None]
        gaps = distances(where[own], where[touching], space.metric)
        near = np.any(gaps <= _NEAR * distances(where[own], still, space.metric), axis=0).tolist()
        wider = reach.union(*(away[index] for index, close in zip(touching, near, strict=True) if close))
        if wider == reach:
            break
        reach = wider
    # Without an anchor the rest pose is still held where an earlier example rests in this space.
    rests = (anchor or len(touching) < len(earlier)) and all(away[index] & reach for index in own)
    groups = [[touching[k] for k in group] for group in _coincident(where[touching], space.metric)]
    centres = np.vstack([where[own], still[: int(rests)], where[[group[0] for group in groups]]])
    held = (*([()] if rests else []), *(tuple(group) for group in groups))
    names = tuple(control if isinstance(control, str) else rig.skeleton.names[control] for control in _sorted(controls))
    return Plan(
        names,
        frozenset().union(*(away[index] for index in own)),
        reach,
        space,
        tuple(own),
        centres,
        held,
        len(own) if rests else None,
    )


def _coincident(points: Floats, metric: str) -> list[list[int]]:
    """Group the points (M, D) that lie at one place, each by its first."""
    if not len(points):
        return []
    gaps = distances(points, points, metric)
    first = (gaps <= _COINCIDENT * gaps.max()).argmax(axis=1)
    return [np.flatnonzero(first == index).tolist() for index in np.unique(first)]


def _sorted(controls: Controls) -> list[int | str]:
    joints = sorted(control for control in controls if isinstance(control, int))
    return [*joints, *sorted(control for control in controls if isinstance(control, str))]


def _span(rig: Rig, motion: Motion, controls: Controls, samples: list[int]) -> PoseSpace:
    """The pose space of some controls: of joints, of controls, or of the angles of joints beside controls."""
    joints = [control for control in _sorted(controls) if isinstance(control, int)]
    scalars = [control for control in _sorted(controls) if isinstance(control, str)]
    names = [rig.skeleton.names[joint] for joint in joints]
    if not scalars:
        return PoseSpace("joint", tuple(names))
    if not joints:
        return PoseSpace("controls", tuple(scalars))
    for name in scalars:
        if name.rpartition(".")[0] and name.rpartition(".")[2] in AXES:
            raise InputError(f"control {name!r}: beside joints its ending reads as an axis; give it another name")
    if rig.skeleton.axes is not None:
        turns = np.abs(rig.skeleton.axes[joints]).max(axis=2) > 0
    else:
        angles = rig.skeleton.angles(motion.rotations[samples])[:, joints]
        turns = np.abs(angles - rig.skeleton.angles(rig.rest.rotations)[joints]).max(axis=0) > DIALLED
    degrees = [f"{name}.{AXES[axis]}" for name, row in zip(names, turns, strict=True) for axis in np.flatnonzero(row)]
    return PoseSpace("angles", (*degrees, *scalars))
