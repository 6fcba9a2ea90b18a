"""MapAxis: an axis of a map of poses, and what it is in words, such as "forearm bends"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats
from posespace.poses.parts import parts_of
from posespace.skeleton import Skeleton

_ALONG, _ACROSS = 0.8, 0.5
"""Cosines to the bone: an axis of rotation nearer to it twists, one farther from it bends."""

_MOST = 0.6
"""What has no more than this share of an axis does not name it alone."""

Freedom = tuple[int | str, int]
"""What a number of a map belongs to: a joint, by number, and its axis, 0 to 2 of rotation and 3 to 5 of translation; or
a control, by name, and 0."""


@dataclass(frozen=True)
class MapAxis:
    """One axis of a map of poses.

    Parameters
    ----------
    name : the joint or control with the largest share
    share : how much of the axis it is, 0 to 1; 0 for an axis along which nothing changes
    words : what happens along the axis: "forearm bends", "smile"; "" where nothing changes
    """

    name: str
    share: float
    words: str


def axis_of(skeleton: Skeleton, freedoms: tuple[Freedom, ...], direction: Floats) -> MapAxis:
    """Return the axis along a `direction` (A,), unit or zero, over the freedoms (A,)."""
    shares: dict[int | str, float] = {}
    for (owner, _), step in zip(freedoms, direction.tolist(), strict=True):
        shares[owner] = shares.get(owner, 0.0) + step**2
    largest = sorted(shares, key=lambda owner: -shares[owner])
    if not largest or not shares[largest[0]]:
        return MapAxis("", 0.0, "")
    shown = largest[: 1 if shares[largest[0]] > _MOST else 2]
    words = " + ".join(_words(skeleton, freedoms, direction, owner) for owner in shown)
    return MapAxis(_name(skeleton, largest[0]), shares[largest[0]], words)


def _words(skeleton: Skeleton, freedoms: tuple[Freedom, ...], direction: Floats, owner: int | str) -> str:
    """What a joint or control does along a direction."""
    name = _name(skeleton, owner)
    if isinstance(owner, str):
        return name
    steps = np.zeros(6)
    for (other, axis), step in zip(freedoms, direction.tolist(), strict=True):
        if other == owner:
            steps[axis] = step
    if np.linalg.norm(steps[3:]) > np.linalg.norm(steps[:3]):
        return f"{name} moves"
    vector = steps[:3] if skeleton.axes is None else skeleton.axes[owner].T @ steps[:3]
    bone = _bone(skeleton, owner)
    size = float(np.linalg.norm(vector) * np.linalg.norm(bone))
    cosine = abs(float(vector @ bone)) / size if size > 0 else np.nan
    verb = "twists" if cosine > _ALONG else "bends" if cosine < _ACROSS else "rotates"
    return f"{name} {verb}"


def _bone(skeleton: Skeleton, joint: int) -> Floats:
    """The direction (3,) from a joint to those linked to it, in its own frame; zero where there are none."""
    parts = parts_of(skeleton)
    below = np.flatnonzero(parts.links == joint)
    own = skeleton.parents[below] == joint
    offsets = np.where(own[:, None], skeleton.local_frames[below, :3, 3], parts.offsets[below])
    return np.asarray(offsets.sum(axis=0))


def _name(skeleton: Skeleton, owner: int | str) -> str:
    return owner if isinstance(owner, str) else skeleton.names[owner]
