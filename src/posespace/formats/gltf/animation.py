"""The animations of a glTF file, sampled at their own key times, as motions of a skeleton and its morphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace import rotations
from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.contents import unique
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.meshes import Morphs
from posespace.formats.gltf.nodes import Nodes
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
    """

    joints: Sequence[int]
    skeleton: Skeleton
    morphs: Morphs


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
            return self._spline(key, after, along[:, None], span[:, None])
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


def read_motions(document: Document, nodes: Nodes, actor: Actor) -> dict[str, Motion]:
    """Read each animation that moves the actor; what moves other nodes is left out with a note."""
    document.spend(_STEPS_A_CLIP * document.root.length("animations"), "clips")
    clips = document.root.parts("animations", "animation", ())
    names = unique((clip.text("name", "") for clip in clips), "animation")
    motions: dict[str, Motion] = {}
    for name, clip in zip(names, clips, strict=True):
        tracks, strangers = _tracks(document, nodes, clip, actor)
        if strangers:
            document.note(f"animation {name!r} moves {strangers} nodes that are not joints of the rig: left out")
        if tracks:
            motions[name] = _motion(document, nodes, name, tracks, actor)
    return motions


def _tracks(document: Document, nodes: Nodes, clip: Fields, actor: Actor) -> tuple[list[Track], int]:
    """Return the tracks that move the actor, and how many other nodes the clip moves."""
    document.spend(_STEPS_A_TRACK * clip.length("channels"), "channels")
    samplers = clip.parts("samplers", f"{clip.where} sampler", ())
    joints = set(actor.joints)
    tracks: list[Track] = []
    strangers: set[int] = set()
    for channel in clip.parts("channels", f"{clip.where} channel", ()):
        target = channel.part("target")
        node, path = target.reference("node", len(nodes)), target.text("path", "")
        sampler = samplers[channel.integer("sampler", below=len(samplers))]
        if node is None or path not in (*_WIDTHS, "weights"):
            continue  # an extension's own kind of target
        width = len(actor.morphs.names.get(node, ())) if path == "weights" else _WIDTHS[path] * (node in joints)
        if width:
            tracks.append(_track(document, sampler, node, path, width))
        else:
            strangers.add(node)
    return tracks, len(strangers)


def _track(document: Document, sampler: Fields, node: int, path: str, width: int) -> Track:
    count = document.accessor_count
    kind = sampler.text("interpolation", "LINEAR")
    if kind not in _INTERPOLATIONS:
        raise InputError(f"{sampler.where}: interpolation: expected one of {', '.join(_INTERPOLATIONS)}, got {kind!r}")
    read = document.floats(sampler.integer("input", below=count), "SCALAR", f"{sampler.where} input")
    times = read[:, 0].astype(np.float64)
    if not len(times) or (np.diff(times) <= 0).any():
        raise InputError(f"{sampler.where}: expected times that increase from key to key")
    output, what = sampler.integer("output", below=count), f"{sampler.where} output"
    each = 3 if kind == "CUBICSPLINE" else 1
    if path == "weights":
        flat = document.floats(output, "SCALAR", what, len(times) * each * width)
    else:
        flat = document.floats(output, f"VEC{width}", what, len(times) * each)
    values: Floats = flat.astype(np.float64).reshape((len(times), 3, width) if each == 3 else (len(times), width))
    if path == "rotation" and each == 1:
        values = rotations.normalize(values, what)
    return Track(node, path, kind, times, values)


def _motion(document: Document, nodes: Nodes, name: str, tracks: list[Track], actor: Actor) -> Motion:
    times = np.unique(np.concatenate([track.times for track in tracks]))
    joints, controls = len(actor.skeleton), list(actor.morphs.defaults)
    widths = sum(track.values.shape[-1] for track in tracks)
    document.take(len(times) * (7 * joints + len(controls) + widths), f"animation {name!r}")
    turn = np.tile(actor.skeleton.rest_rotations, (len(times), 1, 1))
    shift = np.zeros((len(times), joints, 3))
    weights = np.tile(list(actor.morphs.defaults.values()), (len(times), 1))
    number = {node: k for k, node in enumerate(actor.joints)}
    column = {control: k for k, control in enumerate(controls)}
    scaled: set[int] = set()
    for track in tracks:
        value = track.sample(times)
        if track.path == "weights":
            weights[:, [column[morph] for morph in actor.morphs.names[track.node]]] = value
        elif track.path == "rotation":
            turn[:, number[track.node]] = rotations.normalize(value, f"animation {name!r}: node {track.node}")
        elif track.path == "translation":
            shift[:, number[track.node]] = value - nodes.translations[track.node]
        else:
            rest = np.diagonal(nodes.stretches[track.node])
            if np.abs(value - rest).max() > _SAME_SCALE * np.abs(rest).max():
                scaled.add(track.node)
    if scaled:
        document.note(f"animation {name!r} changes the scale of {len(scaled)} joints: the scale is left out")
    if any(track.interpolation == "CUBICSPLINE" for track in tracks):
        document.note(f"animation {name!r} has curves: between its key times they are left out")
    return Motion(turn, shift, times, controls=weights, control_names=tuple(controls))
