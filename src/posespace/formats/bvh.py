"""BVH: a skeleton of joints at rest and one clip of motion.

Angles are degrees, composed in the order of the channels: R = R_first · R_second · R_third.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posespace.budget import JOINTS, ROTATIONS
from posespace.check import Floats
from posespace.errors import FileError, quoted
from posespace.formats import files, text_numbers
from posespace.formats.contents import Contents, unique
from posespace.formats.frames import EVERYTHING, Clip, Wanted, frames_of, resampled
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.skeleton import Skeleton

_AXES = {"x": 0, "y": 1, "z": 2}
_CHANNELS = {axis + kind: (kind, index) for axis, index in _AXES.items() for kind in ("position", "rotation")}
_END_SITE = -1

_MOTION = re.compile(r"^[ \t]*motion[ \t]*$", re.IGNORECASE | re.MULTILINE)
_TIMING = re.compile(r"\s*frames\s*:?\s*(\S+)\s+frame\s*time\s*:?\s*(\S+)", re.IGNORECASE)


@dataclass
class _Joint:
    name: str
    parent: int
    offset: tuple[float, ...] = ()
    channels: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Columns:
    """Some of the file's channels, one entry per channel: its joint, its column in a frame and its axis, each (n,)."""

    joints: NDArray[np.int64]
    columns: NDArray[np.int64]
    axes: NDArray[np.int64]


def read(path: Path, wanted: Wanted = EVERYTHING) -> Contents:
    """Read the skeleton and its motion; end sites are not joints, and a repeated name gets #2, #3, ...

    The file says nothing of what is between its frames: they are the clip's, and linear between them at another rate.

    A root's position channels replace its OFFSET. Those of other joints do so too in most files, while some exporters
    (MakeHuman's poses) write them relative to it, as zeros: `_replaces_offset` tells the two apart.
    """
    text = files.read_text(path).lstrip()
    if text[:9].lower() != "hierarchy":
        raise FileError(path, "is not a BVH file: it does not start with HIERARCHY")
    middle = _MOTION.search(text)
    if middle is None:
        raise FileError(path, "has no MOTION section; it may be cut short")
    joints = _Hierarchy(path).parse(text[9 : middle.start()])
    frame_time, values = _frames(path, text[middle.end() :], joints)
    offsets = np.array([joint.offset for joint in joints])
    frames = np.tile(np.eye(4), (len(joints), 1, 1))
    frames[:, :3, 3] = offsets
    rest = np.tile(rotations.IDENTITY, (len(joints), 1))
    names = tuple(unique((joint.name for joint in joints), "joint"))
    renamed = sum(joint.name != name for joint, name in zip(joints, names, strict=True))
    notes = [f"{renamed} joints renamed, because their names are repeated"] if renamed else []
    motions: dict[str, Motion] = {}
    clips: dict[str, Clip] = {}
    # Numbers near the largest double overflow below; Skeleton and Motion then raise.
    with files.naming(path), np.errstate(over="ignore", invalid="ignore"):
        parents = np.array([joint.parent for joint in joints], dtype=np.int32)
        skeleton = Skeleton(names, parents, frames, rest)
        if len(values):
            translations = _translations(joints, offsets, values)
            times = frame_time * np.arange(len(values))
            timing = frames_of(times, wanted.rate or "keys", 7 * len(joints), "its clip")
            motion = Motion(_rotations(joints, values), translations, times)
            motions[path.stem] = motion if timing.rate is None else resampled(motion, timing.times)
            clips[path.stem] = timing.clip(path.stem)
        else:
            notes.append("holds no frames")
    return Contents(path, "BVH", skeleton=skeleton, motions=motions, notes=tuple(notes), clips=clips)


class _Hierarchy:
    """The part before MOTION, read statement by statement with a stack of its own: files may nest deeply."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.joints: list[_Joint] = []
        self.stack: list[int] = []
        self.opening: int | None = None
        """The joint or end site whose brace comes next."""

    def parse(self, text: str) -> list[_Joint]:
        """Return the joints, parents before their children."""
        for line in re.sub(r"[{}]", r"\n\g<0>\n", text).split("\n"):
            if statement := line.strip():
                self._statement(statement)
        if self.stack or self.opening is not None:
            raise FileError(self.path, "its braces do not match: a joint is not closed")
        if not self.joints:
            raise FileError(self.path, "has no joints")
        for joint in self.joints:
            if not joint.offset:
                raise FileError(self.path, f"joint {quoted(joint.name)} has no OFFSET")
        return self.joints

    def _statement(self, line: str) -> None:
        word, rest = [*line.split(maxsplit=1), ""][:2]
        match word.lower():
            case "root" | "joint":
                self._open(rest)
            case "end" if self.stack and self.opening is None:
                self.opening = _END_SITE
            case "{" if self.opening is not None:
                self.stack.append(self.opening)
                self.opening = None
            case "}" if self.stack and self.opening is None:
                self.stack.pop()
            case "offset" if self.stack:
                self._offset(rest)
            case "channels" if self.stack and self.stack[-1] != _END_SITE:
                self._channels(rest)
            case "{" | "}":
                raise FileError(self.path, f"its braces do not match: one {word!r} too many")
            case _:
                raise FileError(self.path, f"has a line that is not understood: {quoted(line)}")

    def _open(self, name: str) -> None:
        parent = self.stack[-1] if self.stack else -1
        if self.opening is not None or (self.stack and parent == _END_SITE):
            raise FileError(self.path, f"joint {quoted(name)} is where no joint can be")
        if len(self.joints) == JOINTS.any_file:
            raise FileError(self.path, f"has more than {JOINTS.any_file} joints")
        self.opening = len(self.joints)
        self.joints.append(_Joint(name or f"joint{self.opening}", parent))

    def _offset(self, rest: str) -> None:
        try:
            offset = tuple(float(word) for word in rest.split())
        except ValueError:
            offset = ()
        if len(offset) != 3 or not np.isfinite(offset).all():
            raise FileError(self.path, f"expected OFFSET and three numbers, got {quoted(rest)}")
        if self.stack[-1] != _END_SITE:
            self.joints[self.stack[-1]].offset = offset

    def _channels(self, rest: str) -> None:
        joint = self.joints[self.stack[-1]]
        count, *channels = rest.lower().split() or [""]
        for channel in channels:
            if channel not in _CHANNELS:
                known = "Xposition, ..., Zrotation"
                raise FileError(self.path, f"joint {quoted(joint.name)}: expected {known}, got {quoted(channel)}")
        if count != str(len(channels)) or len(set(channels)) != len(channels):
            raise FileError(
                self.path, f"joint {quoted(joint.name)}: its CHANNELS differ from their count {count[:20]!r}"
            )
        joint.channels = tuple(channels)


def _frames(path: Path, text: str, joints: list[_Joint]) -> tuple[float, Floats]:
    """Return the seconds per frame and the values (P, channels) of the file's MOTION section."""
    timing = _TIMING.match(text)
    if timing is None or not timing[1].isdecimal() or len(timing[1]) > 18:
        raise FileError(path, "expected 'Frames: <count>' and 'Frame Time: <seconds>' after MOTION")
    try:
        frame_time = float(timing[2])
    except ValueError:
        frame_time = -1.0
    if not 0 <= frame_time < np.inf:
        raise FileError(path, f"expected a Frame Time in seconds, got {timing[2][:40]!r}")
    count, channels = int(timing[1]), sum(len(joint.channels) for joint in joints)
    numbers = text[timing.end() :]
    # Each number takes two characters. Where joints have no channels, only the second bound limits the frames.
    if 2 * count * channels > len(numbers) or count * len(joints) > max(ROTATIONS.any_file, len(numbers)):
        raise FileError(path, f"says it has {count} frames of {channels} channels, more than a file this long can hold")
    plain = numbers.encode()
    values = text_numbers.parse_all(plain)
    if values is None:
        raise FileError(path, f"expected numbers in its frames, got {text_numbers.first_bad(plain)!r}")
    if len(values) != count * channels:
        raise FileError(
            path, f"expected {count} frames x {channels} channels = {count * channels} numbers, got {len(values)}"
        )
    if not np.isfinite(values).all():
        frame = int((~np.isfinite(values)).argmax()) // channels
        raise FileError(path, f"frame {frame} holds a value that is not finite")
    return frame_time, values.reshape(count, channels)


def _columns(joints: list[_Joint], kind: str, slot: int | None = None) -> _Columns:
    """Return the channels of one kind; with `slot`, each joint's channel number `slot` of that kind."""
    columns: list[tuple[int, int, int]] = []
    start = 0
    for index, joint in enumerate(joints):
        meanings = [_CHANNELS[channel] for channel in joint.channels]
        channels = [(index, start + k, axis) for k, (what, axis) in enumerate(meanings) if what == kind]
        columns += channels if slot is None else channels[slot : slot + 1]
        start += len(joint.channels)
    return _Columns(*np.array(columns, dtype=np.int64).reshape(-1, 3).T)


def _rotations(joints: list[_Joint], values: Floats) -> Floats:
    """Return (P, J, 4) rotations, each joint's channels composed in their order."""
    total = np.tile(rotations.IDENTITY, (len(values), len(joints), 1))
    for slot in range(3):
        chosen = _columns(joints, "rotation", slot)
        if len(chosen.joints):
            angles = np.deg2rad(values[:, chosen.columns])
            rotation = rotations.from_axis_angle(np.eye(3)[chosen.axes], angles)
            total[:, chosen.joints] = rotations.multiply(total[:, chosen.joints], rotation)
    return total


def _translations(joints: list[_Joint], offsets: Floats, values: Floats) -> Floats:
    """Return (P, J, 3) each joint's translation from its OFFSET; an axis with no position channel has none."""
    chosen = _columns(joints, "position")
    translations = np.zeros((len(values), len(joints), 3))
    translations[:, chosen.joints, chosen.axes] = values[:, chosen.columns]
    channel = np.zeros((len(joints), 3), dtype=bool)
    channel[chosen.joints, chosen.axes] = True
    channel_offsets = np.where(channel, offsets, 0.0)
    replaces = _replaces_offset(np.array([joint.parent < 0 for joint in joints]), channel_offsets, translations)
    return translations - np.where(replaces[:, None], channel_offsets, 0.0)


def _replaces_offset(roots: NDArray[np.bool_], offsets: Floats, positions: Floats) -> NDArray[np.bool_]:
    """Tell for each joint (J,) whether its positions (P, J, 3) replace its offset (J, 3) or are added to it.

    Roots: replace. A joint that stays at zero, against the length of its offset, keeps its offset: replacing would
    put it onto its parent. The others follow one rule per file, as each exporter does: they replace if they lie
    nearer to the offsets than to zero.
    """
    size = np.linalg.norm(positions, axis=2)
    still = size.max(axis=0) <= 1e-3 * np.linalg.norm(offsets, axis=1)
    voting = ~still & ~roots
    gap = np.linalg.norm(positions[:, voting] - offsets[voting], axis=2)
    replaces: NDArray[np.bool_] = roots | (~still & bool(gap.sum() < size[:, voting].sum()))
    return replaces
