"""The animations of a glTF file, sampled at frames, as motions of a skeleton and its morphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.contents import unique
from posespace.formats.frames import Clip, Frames, Wanted, frames_of
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.meshes import Morphs
from posespace.formats.gltf.nodes import Nodes
from posespace.formats.gltf.pose_markers import read_markers
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.skeleton import Skeleton

_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
_INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")
_SAME_SCALE = 1e-3
"""Scales that differ by less than this fraction are one scale that an exporter wrote repeatedly."""
_STEPS_A_CLIP, _STEPS_A_TRACK = 3, 2


@dataclass(frozen=True, eq=False)
class Actor:
    """What the animations move.

    Parameters
    ----------
    joints : the node of each joint; empty for a mesh that only has morphs
    skeleton : the joints
    morphs : the morphs, whose weights become the controls of the motions
    baked : further nodes, whose motion follows from that of the joints
    """

    joints: Sequence[int]
    skeleton: Skeleton
    morphs: Morphs
    baked: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Track:
    """One channel: how a property of a node changes over time.

    Parameters
    ----------
    node : its number
    path : "translation", "rotation", "scale" or "weights"
    interpolation : "LINEAR", "STEP" or "CUBICSPLINE"
    times : (n,) seconds, increasing
    values : (n, D), or for CUBICSPLINE (n, 3, D): the tangent coming in, the value, the tangent going out
    """

    node: int
    path: str
    interpolation: str
    times: Floats
    values: Floats

    def sample(self, times: Floats) -> Floats:
        """Return the values (P, D) at `times` (P,); they are constant before the first key and after the last."""
        last = len(self.times) - 1
        key = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, last)
        after = np.minimum(key + 1, last)
        span = self.times[after] - self.times[key]
        along = np.clip((times - self.times[key]) / np.where(span > 0, span, 1), 0, 1)
        if self.interpolation == "STEP":
            still: Floats = self.values[key]
            return still
        if self.interpolation == "CUBICSPLINE":
            curve = self._spline(key, after, along[:, None], span[:, None])
            # A curve between opposite quaternions passes through zero, which is no rotation.
            if self.path == "rotation":
                curve = np.where(np.abs(curve).max(axis=1, keepdims=True) < 1e-9, self.values[key, 1], curve)
            return curve
        if self.path == "rotation":
            return rotations.slerp(self.values[key], self.values[after], along)
        mixed: Floats = self.values[key] + along[:, None] * (self.values[after] - self.values[key])
        return mixed

    def _spline(self, key: NDArray[np.intp], after: NDArray[np.intp], t: Floats, span: Floats) -> Floats:
        """Cubic Hermite spline, as in appendix C of the specification."""
        start, leaving = self.values[key, 1], self.values[key, 2] * span
        end, arriving = self.values[after, 1], self.values[after, 0] * span
        value: Floats = (
            (2 * t**3 - 3 * t**2 + 1) * start
            + (t**3 - 2 * t**2 + t) * leaving
            + (-2 * t**3 + 3 * t**2) * end
            + (t**3 - t**2) * arriving
        )
        return value


@dataclass(frozen=True, eq=False)
class _Channel:
    """A channel before its values are read: its sampler, what it moves, and its key times (n,)."""

    sampler: Fields
    node: int
    path: str
    width: int
    times: Floats


class _Clocks:
    """The key times of samplers, each accessor read once: most channels of a clip share theirs."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._read: dict[int, Floats] = {}

    def times(self, sampler: Fields) -> Floats:
        """Return the key times (n,) of a sampler, which increase."""
        accessor = sampler.integer("input", below=self._document.accessor_count)
        if accessor not in self._read:
            read = self._document.floats(accessor, "SCALAR", f"{sampler.where} input")
            times: Floats = read[:, 0].astype(np.float64)
            if not len(times) or (np.diff(times) <= 0).any():
                raise InputError(f"{sampler.where}: expected times that increase from key to key")
            self._read[accessor] = times
        return self._read[accessor]


def read_motions(
    document: Document, nodes: Nodes, actor: Actor, wanted: Wanted
) -> tuple[dict[str, Clip], dict[str, Motion]]:
    """Read each animation that moves the actor: what it is, and the motions that are wanted.

    What moves other nodes is left out with a note.
    """
    document.budget.work(_STEPS_A_CLIP * document.root.length("animations"), "clips")
    animations = document.root.parts("animations", "animation", ())
    names = unique((animation.text("name", "") for animation in animations), "animation")
    clocks = _Clocks(document)
    clips: dict[str, Clip] = {}
    motions: dict[str, Motion] = {}
    spare = document.budget.numbers // 4
    for name, animation in zip(names, animations, strict=True):
        channels, strangers = _channels(document, clocks, nodes, animation, actor)
        if strangers:
            document.note(f"animation {name!r} moves {strangers} nodes that are not joints of the rig: left out")
        if not channels:
            continue
        is_wanted = wanted.wants(name, len(motions))
        # Most channels share their times, and each list of them counts once.
        clocks_used = {id(channel.times): channel.times for channel in channels}
        keys = np.unique(np.concatenate(list(clocks_used.values())))
        size = 7 * len(actor.skeleton) + len(actor.morphs.defaults) + sum(channel.width for channel in channels)
        # A rate may be too high for clips that are not wanted: only what is wanted is refused for it.
        markers = read_markers(document, animation)
        rate = wanted.rate if is_wanted else None
        if rate == "markers" and not wanted.names and not markers and len(keys) > 1:
            # Of all clips together those count that name poses.
            is_wanted, rate = False, None
        frames = frames_of(keys, rate, size, f"animation {name!r}", spare, markers)
        clips[name] = frames.clip(name)
        if is_wanted:
            document.budget.hold(frames.count * size, f"animation {name!r}")
            spare -= frames.count * size if frames.rate else 0
            motions[name] = _motion(
                document, nodes, name, [_track(document, entry) for entry in channels], actor, frames
            )
    return clips, motions


def _channels(
    document: Document, clocks: _Clocks, nodes: Nodes, animation: Fields, actor: Actor
) -> tuple[list[_Channel], int]:
    """Return the channels that move the actor, and how many other nodes the animation moves."""
    document.budget.work(_STEPS_A_TRACK * animation.length("channels"), "channels")
    samplers = animation.parts("samplers", f"{animation.where} sampler", ())
    joints = set(actor.joints)
    channels: list[_Channel] = []
    strangers: set[int] = set()
    for channel in animation.parts("channels", f"{animation.where} channel", ()):
        target = channel.part("target")
        node, path = target.reference("node", len(nodes)), target.text("path", "")
        sampler = samplers[channel.integer("sampler", below=len(samplers))]
        if node is None or path not in (*_WIDTHS, "weights"):
            continue  # an extension's own kind of target
        width = len(actor.morphs.names.get(node, ())) if path == "weights" else _WIDTHS[path] * (node in joints)
        if width:
            channels.append(_Channel(sampler, node, path, width, clocks.times(sampler)))
        elif path == "weights" or node not in actor.baked:
            strangers.add(node)
    return channels, len(strangers)


def _track(document: Document, channel: _Channel) -> Track:
    """Read the values of a channel."""
    sampler, times, path, width = channel.sampler, channel.times, channel.path, channel.width
    kind = sampler.text("interpolation", "LINEAR")
    if kind not in _INTERPOLATIONS:
        raise InputError(f"{sampler.where}: interpolation: expected one of {', '.join(_INTERPOLATIONS)}, got {kind!r}")
    output, what = sampler.integer("output", below=document.accessor_count), f"{sampler.where} output"
    values_per_key = 3 if kind == "CUBICSPLINE" else 1
    if path == "weights":
        flat = document.floats(output, "SCALAR", what, len(times) * values_per_key * width)
    else:
        flat = document.floats(output, f"VEC{width}", what, len(times) * values_per_key)
    values: Floats = flat.astype(np.float64).reshape(
        (len(times), 3, width) if values_per_key == 3 else (len(times), width)
    )
    if path == "rotation" and values_per_key == 1:
        values = rotations.normalize(values, what)
    return Track(channel.node, path, kind, times, values)


def _motion(document: Document, nodes: Nodes, name: str, tracks: list[Track], actor: Actor, frames: Frames) -> Motion:
    times, joints, controls = frames.times, len(actor.skeleton), list(actor.morphs.defaults)
    joint_rotations = np.tile(actor.skeleton.rest_rotations, (len(times), 1, 1))
    translations = np.zeros((len(times), joints, 3))
    weights = np.tile(list(actor.morphs.defaults.values()), (len(times), 1))
    number = {node: k for k, node in enumerate(actor.joints)}
    column = {control: k for k, control in enumerate(controls)}
    scaled: set[int] = set()
    for track in tracks:
        value = track.sample(times)
        if track.path == "weights":
            shown = {morph: k for k, morph in enumerate(actor.morphs.names[track.node]) if morph}
            weights[:, [column[morph] for morph in shown]] = value[:, list(shown.values())]
        elif track.path == "rotation":
            joint_rotations[:, number[track.node]] = rotations.normalize(
                value, f"animation {name!r}: node {track.node}"
            )
        elif track.path == "translation":
            translations[:, number[track.node]] = value - nodes.translations[track.node]
        else:
            rest = np.diagonal(nodes.stretches[track.node])
            if np.abs(value - rest).max() > _SAME_SCALE * np.abs(rest).max():
                scaled.add(track.node)
    if scaled:
        document.note(f"animation {name!r} changes the scale of {len(scaled)} joints: the scale is left out")
    if note := frames.note():
        document.note(note)
    names = tuple(unique(frames.names(name), "pose"))
    return Motion(joint_rotations, translations, times, names, weights, tuple(controls))
