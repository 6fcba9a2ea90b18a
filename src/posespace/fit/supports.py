"""Supports: where a layer acts, with edges that fade to zero, shrunk smoothly where a vertex would get too many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from posespace.mesh import Mesh
from posespace.rig import Rig
from posespace.spaces import PoseSpace

Mask = NDArray[np.float32]


def averaging(mesh: Mesh) -> sp.csr_matrix:
    """Return the matrix (N, N) that averages over neighbours a few times, so that no support frays."""
    weld = mesh.weld
    corners = weld.groups[mesh.triangles]
    first, second = corners.ravel(), np.roll(corners, 1, axis=1).ravel()
    count = len(weld.first)
    edges = sp.csr_matrix((np.ones(len(first), np.float32), (first, second)), shape=(count, count))
    edges = edges + edges.T
    degree = np.asarray(edges.sum(axis=1)).ravel()
    share = sp.diags_array(np.where(degree > 0, 0.5 / np.maximum(degree, 1), 0).astype(np.float32)) @ edges
    keep = sp.diags_array(np.where(degree > 0, 0.5, 1).astype(np.float32))
    step = sp.csr_matrix(share + keep)
    spread = sp.csr_matrix((np.ones(len(weld.groups), np.float32), (np.arange(len(weld.groups)), weld.groups)))
    gather = sp.csr_matrix((np.ones(count, np.float32), (np.arange(count), weld.first)), shape=(count, spread.shape[0]))
    return sp.csr_matrix(spread @ (step @ step @ step) @ gather)


def faded(sizes: Mask, least: Mask | float, fade: float) -> Mask:
    """Return masks: 0 where a size is at or below `least`, 1 from (1 + fade) times it on, smooth between."""
    floor = np.maximum(least, 1e-30)
    t = np.clip((sizes / floor - 1) / fade, 0, 1) if fade > 0 else (sizes > floor).astype(np.float32)
    mask: Mask = (t * t * (3 - 2 * t)).astype(np.float32)
    return mask


def near_joint(rig: Rig, space: PoseSpace) -> Mask:
    """Return (N,) 1 on vertices that follow the joints of a space, their parents or children, 0 elsewhere."""
    if not space.joints(rig.skeleton):
        return np.ones(len(rig.mesh.points), dtype=np.float32)
    parents = rig.skeleton.parents
    near = set()
    for joint in space.joints(rig.skeleton):
        near |= {joint, int(parents[joint])} | set(np.flatnonzero(parents == joint).tolist())
    bound = np.isin(rig.influences, list(near - {-1})) & (rig.weights > 0)
    return np.asarray(bound.any(axis=1), dtype=np.float32)


def regions(rig: Rig) -> dict[str, Mask]:
    """Return masks (N,) that sum to one: each joint's weights."""
    dense = rig.dense_weights().astype(np.float32)
    return {name: dense[:, k] for k, name in enumerate(rig.skeleton.names) if dense[:, k].any()}


def within_budget(sizes: Mask, entries: Sequence[int], budget: int) -> Mask:
    """Return (N,) the size up to which displacements must go so that no vertex has more than `budget` entries.

    At each vertex the rows of `sizes` (R, N) are taken from the largest down, each with its number of `entries`; the
    first that does not fit sets the level. Sizes vary smoothly over the surface, so the level does too, and so do masks
    that fade above it.
    """
    order = np.argsort(-sizes, axis=0, kind="stable")
    ordered = np.take_along_axis(sizes, order, axis=0)
    over = np.cumsum(np.asarray(entries)[order] * (ordered > 0), axis=0) > budget
    level = np.take_along_axis(ordered, over.argmax(axis=0)[None], axis=0)[0]
    return np.asarray(np.where(over.any(axis=0), level, 0), dtype=np.float32)
