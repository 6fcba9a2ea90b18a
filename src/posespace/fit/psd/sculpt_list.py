"""SculptList: named sculpts of one rig and the changes to them, which can be undone and redone. Nothing is solved."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError, quoted, suggestion
from posespace.examples import Examples
from posespace.motion import Motion
from posespace.pose import Pose, require_pose
from posespace.poses.links import linked_rig
from posespace.poses.mirror import TOLERANCE, Mirror, MirroredSculpt
from posespace.poses.pose_map import PoseMap
from posespace.poses.spaces import AXES, TRANSLATIONS
from posespace.rig import Rig
from posespace.sculpt import (
    EVERY,
    Journal,
    MemoryJournal,
    Radii,
    Sculpt,
    SculptState,
    checked_radius,
    radius_label,
)

# Poses whose quaternions and controls differ by less are one pose.
_SAME = 1e-9

# Mirroring back and forth rounds a pose by no more than this.
_ROUNDED = 1e-5
_NAMES_SHOWN = 4


@dataclass(frozen=True)
class Mirroring:
    """What mirroring sculpts did.

    Parameters
    ----------
    made : the mirror image of each sculpt that has a new one, by its name
    kept : why there is no new one of the others, by their names
    """

    made: dict[str, MirroredSculpt]
    kept: dict[str, str]


class SculptList:
    """Named sculpts of one rig, open for changes.

    Parameters
    ----------
    rig : the rig, whose mesh is the rest shape
    """

    def __init__(self, rig: Rig) -> None:
        check.kind("rig", rig, Rig)
        self.rig = rig
        self._state = SculptState()
        self._journal: Journal = MemoryJournal()
        # By name: the shape and the pose, which tell whether it still is that sculpt, and its largest correction.
        self._largest: dict[str, tuple[Floats, Pose, float]] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._all)} of {self.rig})"

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, name: str) -> Sculpt:
        if name not in self._all:
            raise InputError(f"sculpt {quoted(name)}: none has that name{suggestion(name, self.names)}")
        return self._all[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The sculpts in the order in which they were added."""
        return tuple(self._all)

    @property
    def sculpts(self) -> Mapping[str, Sculpt]:
        """All sculpts by name, muted ones too."""
        return MappingProxyType(self._all)

    @property
    def control_radii(self) -> Radii:
        """The radii of influence that hold for all sculpts, by joint, control or layer."""
        return MappingProxyType(dict(self._state.control_radii))

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that `undo` takes back, the last one first to be undone."""
        return self._journal.steps

    @property
    def undone(self) -> tuple[str, ...]:
        """The changes that `redo` makes again, the last one first to be redone; a new change forgets them."""
        return self._journal.undone

    def chosen(self, patterns: Sequence[str]) -> tuple[str, ...]:
        """Return the sculpts that are named, or match a pattern as file names do; raise for one that none matches."""
        matched: set[str] = set()
        for pattern in patterns:
            # A name first: it may hold brackets, which a pattern gives another meaning.
            names = [pattern] if pattern in self._all else [n for n in self.names if fnmatchcase(n, pattern)]
            matched.update(names or [self._named(pattern)])
        return tuple(name for name in self.names if name in matched)

    def add(self, name: str, pose: Pose, shape: ArrayLike, radius: float | None = None) -> None:
        """Add the sculpt `shape` (N, 3), in posed space, at a pose where there is none yet."""
        check.kind("sculpt's name", name, str)
        require_pose(f"sculpt {name!r}", pose)
        if not name:
            raise InputError("sculpt's name: expected at least one character, got none")
        if name in self._all:
            raise InputError(f"sculpt {name!r}: there is one of that name already; replace it, or give another name")
        if len(pose.rotations) != len(self.rig.skeleton):
            joints = len(self.rig.skeleton)
            raise InputError(f"pose {name!r}: expected {joints} joints as in the rig, got {len(pose.rotations)}")
        self._require_free(name, pose)
        self._change(f"added {name!r}", {**self._all, name: self._made(name, pose, shape, radius)})

    def replace(self, name: str, shape: ArrayLike) -> None:
        """Give the sculpt `name` another shape (N, 3) at its pose."""
        known = self[name]
        made = replace(self._made(name, known.pose, shape, known.radius), muted=known.muted)
        self._change(f"replaced {name!r}", {**self._all, name: made})

    def remove(self, *names: str) -> None:
        """Take sculpts away."""
        gone = {self._named(name) for name in names}
        self._change(
            f"removed {shown(names)}", {name: sculpt for name, sculpt in self._all.items() if name not in gone}
        )

    def rename(self, name: str, to: str) -> None:
        """Give the sculpt `name` another name."""
        self._named(name)
        check.kind("sculpt's name", to, str)
        if not to or to in self._all:
            problem = "there is one of that name already" if to else "expected at least one character"
            raise InputError(f"sculpt {to!r}: {problem}; give another name")
        entries = {to if key == name else key: sculpt for key, sculpt in self._all.items()}
        self._change(f"renamed {name!r} to {to!r}", entries)

    def mute(self, *names: str, muted: bool = True) -> None:
        """Keep sculpts but leave them out of fits; with ``muted=False``, take them in again."""
        for name in names:
            if not muted and self[name].muted:
                self._require_free(name, self[name].pose)
        changed = {name: replace(self[name], muted=muted) for name in names}
        self._change(f"{'muted' if muted else 'unmuted'} {shown(names)}", {**self._all, **changed})

    def set_sculpt_radius(self, name: str, value: float | None) -> None:
        """Set the radius of influence of one sculpt, in radians or the controls' unit; None: that of its layer.

        At this distance from its pose the sculpt falls to about 60 %, by a Gaussian unless a kernel is given. It is
        still reproduced exactly at its pose, and zero at the poses of the others.
        """
        radius = None if value is None else _sculpt_radius(name, value)
        changed = replace(self[name], radius=radius)
        if radius is not None and radius > 2 * math.pi and _is_rotation(changed.pose):
            meant = f"{radius:g} degrees are {math.radians(radius):.3g}"
            warnings.warn(
                f"radius of {quoted(name)}: {radius:g} radians are more than a full rotation; {meant}", stacklevel=2
            )
        what = "as its layer" if radius is None else f"{radius:g}"
        self._change(f"set the radius of {name!r}: {what}", {**self._all, name: changed})

    def set_radius(self, what: str | Sequence[str], value: float | None) -> None:
        """Set the radius of influence of all sculpts, in radians or the controls' unit; None: chosen by leave-one-out.

        `what` is a joint or control, for its axis in every layer; a list of them, for the layer they span; or "*", for
        all others. The radius of a single sculpt, where it has one, comes before.
        """
        key = what if isinstance(what, str) else tuple(sorted(what))
        radii, label = dict(self._state.control_radii), quoted(radius_label(key))
        radii.pop(key, None)
        if value is not None:
            radii[key] = checked_radius(label, value)
            self._warn_of_unknown(key)
        did = f"set the radius of {label}: {'auto' if value is None else f'{value:g}'}"
        self._keep(did, replace(self._state, control_radii=radii))

    def mirror(
        self,
        *names: str,
        normal: ArrayLike | None = None,
        tolerance: float = TOLERANCE,
        replace_known: bool = False,
    ) -> Mirroring:
        """Mirror sculpts to the other side, and return how well each matched.

        A sculpt at a central pose, which is its own mirror image, is kept as it is. So is one whose mirror image is
        there already, unless `replace_known`.

        Parameters
        ----------
        names : which; none: all
        normal : (3,) of the mirror plane; None: from the joints that names pair, or x
        tolerance : how far from the surface a vertex's mirror image may lie, as a fraction of the box's diagonal
        replace_known : replace mirror images that are there already
        """
        side, changed = Mirror(self.rig, normal, tolerance), dict(self._all)
        made, kept = dict[str, MirroredSculpt](), dict[str, str]()
        for name in names or self.names:
            sculpt = self[name]
            if side.is_central(sculpt.pose):
                kept[name] = "its pose is its own mirror image"
                continue
            image = side.sculpt(name, sculpt.pose, self._displacement(name, sculpt))
            known = image.name if image.name in changed else self._at(image.pose, changed, _ROUNDED)
            if known is not None and (not replace_known or known in names or known in made):
                kept[name] = f"its mirror image is there already as {known!r}"
                continue
            image = replace(image, name=known or image.name)
            entry = self._made(image.name, image.pose, image.shape, sculpt.radius)
            changed[image.name], made[name] = replace(entry, muted=sculpt.muted), image
        if made:
            self._change(f"mirrored {shown(list(made))}", changed)
        return Mirroring(made, kept)

    def largest_correction(self, name: str) -> float:
        """Return the greatest distance of a sculpt from plain skinning."""
        sculpt, known = self[name], self._largest.get(name)
        if known is None or known[0] is not sculpt.shape or known[1] is not sculpt.pose:
            displaced = sculpt.shape - self.rig.skin(sculpt.pose)
            known = sculpt.shape, sculpt.pose, float(np.linalg.norm(displaced, axis=1).max(initial=0.0))
            self._largest[name] = known
        return known[2]

    def at(self, pose: Pose) -> str | None:
        """Return the name of the sculpt at this very pose, None where there is none; muted ones do not count."""
        return self._at(pose, {name: sculpt for name, sculpt in self._all.items() if not sculpt.muted})

    def undo(self) -> str:
        """Take the last change back; returns what it was."""
        did, self._state = self._journal.undo()
        return did

    def redo(self) -> str:
        """Make the change again that was undone last; returns what it was."""
        did, self._state = self._journal.redo()
        return did

    def pose_map(self, layer: Sequence[str] | None = None) -> PoseMap:
        """Return the map of the sculpts' poses, muted ones too: see `PoseMap`.

        With a `layer`, the joints and controls that span it, those poses that move nothing else are shown.
        """
        if not self._all:
            raise InputError("map of poses: expected at least one sculpt, got none; add one")
        motion = Motion.from_poses([sculpt.pose for sculpt in self._all.values()], self.names)
        return PoseMap.of(linked_rig(self.rig, motion), motion, layer)

    def examples(self) -> Examples:
        """Return the sculpts that are not muted as examples, to save or to fit by another method."""
        unmuted = self._unmuted()
        motion = Motion.from_poses([sculpt.pose for sculpt in unmuted.values()], tuple(unmuted))
        radii = {name: sculpt.radius for name, sculpt in unmuted.items() if sculpt.radius is not None}
        examples = Examples.from_shapes(self.rig, motion, [sculpt.shape for sculpt in unmuted.values()])
        return replace(examples, radii=radii, control_radii=dict(self._state.control_radii))

    def _unmuted(self) -> dict[str, Sculpt]:
        """The sculpts that fits use."""
        unmuted = {name: sculpt for name, sculpt in self._all.items() if not sculpt.muted}
        if not unmuted:
            problem = "all are muted; unmute one" if self._all else "got none; add one"
            raise InputError(f"sculpts: expected at least one, {problem}")
        return unmuted

    def _change(self, did: str, sculpts: dict[str, Sculpt]) -> None:
        self._keep(did, replace(self._state, sculpts=sculpts))

    def _keep(self, did: str, state: SculptState) -> None:
        self._journal.keep(did, state)
        self._state = state

    @property
    def _all(self) -> Mapping[str, Sculpt]:
        return self._state.sculpts

    def _made(self, name: str, pose: Pose, shape: ArrayLike, radius: float | None) -> Sculpt:
        points = self._journal.stored(check.floats(f"shape of pose {name!r}", shape, self.rig.mesh.points.shape))
        return Sculpt(pose, points, radius=None if radius is None else _sculpt_radius(name, radius))

    def _warn_of_unknown(self, key: str | tuple[str, ...]) -> None:
        """Warn of names in a radius that neither the rig nor any pose has; a later sculpt may bring a control."""
        known = {
            EVERY,
            *self.rig.skeleton.names,
            *(name for sculpt in self._all.values() for name in sculpt.pose.controls),
        }
        for name in [key] if isinstance(key, str) else key:
            joint, _, axis = name.rpartition(".")
            if name not in known and not (joint in known and axis in AXES + TRANSLATIONS):
                close = suggestion(name, tuple(known))
                warnings.warn(f"radius of {quoted(name)}: no joint or control has that name{close}", stacklevel=4)

    def _displacement(self, name: str, sculpt: Sculpt) -> Floats:
        """The displacement of the rest shape (N, 3) that a sculpt adds."""
        motion = Motion.from_poses([sculpt.pose], [name])
        return Examples(self.rig, motion, sculpt.shape[None]).residual(0)[0]

    def _named(self, name: str) -> str:
        """The name, which a sculpt has; raises where none has it."""
        _ = self[name]
        return name

    def _require_free(self, name: str, pose: Pose) -> None:
        """Raise where a sculpt that is not muted has this very pose."""
        unmuted = {key: sculpt for key, sculpt in self._all.items() if not sculpt.muted and key != name}
        if (other := self._at(pose, unmuted)) is not None:
            raise InputError(
                f"sculpts {other!r} and {name!r} are at the same position in the pose space; "
                "move, mute or remove one, or set smoothing above 0"
            )

    def _at(self, pose: Pose, sculpts: Mapping[str, Sculpt], same: float = _SAME) -> str | None:
        """The sculpt at this very pose, if there is one."""
        if not sculpts:
            return None
        rotations = np.stack([sculpt.pose.rotations for sculpt in sculpts.values()])
        chords = np.minimum(*(np.abs(rotations + sign * pose.rotations).max(axis=2) for sign in (-1, 1)))
        translations = np.stack([sculpt.pose.translations for sculpt in sculpts.values()]) - pose.translations
        still = np.abs(translations).max(axis=(1, 2), initial=0.0) <= same * self.rig.mesh.diagonal
        names = tuple(sculpts)
        for number in np.flatnonzero((chords.max(axis=1) <= same) & still):
            theirs = sculpts[names[number]].pose.controls
            controls = {*pose.controls, *theirs}
            if all(abs(pose.controls.get(key, 0.0) - theirs.get(key, 0.0)) <= same for key in controls):
                return names[number]
        return None


def _sculpt_radius(name: str, value: float) -> float:
    return checked_radius(f"sculpt {quoted(name)}", value)


def _is_rotation(pose: Pose) -> bool:
    """Whether distances from a pose are angles only."""
    return not any(pose.controls.values()) and not pose.translations.any()


def shown(names: Sequence[str]) -> str:
    """Return names for a message; of many, the first few."""
    first = ", ".join(map(quoted, names[:_NAMES_SHOWN]))
    return first if len(names) <= _NAMES_SHOWN else f"{first} and {len(names) - _NAMES_SHOWN} more"
