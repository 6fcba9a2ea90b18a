"""Learned bones as the compiled loops read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posespace.check import Floats
from posespace.geometry.local_frames import UPRIGHT
from posespace.runtime.compiled import Ints32
from posespace.runtime.entries import owned
from posespace.skin.bones.learned import LearnedBones
from posespace.skin.bones.positions import BonePositions


class BoneTables(NamedTuple):
    """What the loops read; see `LearnedBones` and `BonePositions`.

    Parameters
    ----------
    samples : (S, M, 3) translations of the points from rest
    near : (B, C)
    rest : (M, 3) the points at rest
    holds : (B, C), or (0, C) where the bones take the points in the axes of the whole
    local_rest, spread : (B, C, 3) and (B,) the points of each local frame at rest, and what keeps it upright
    local_samples : (B, S, C, 3) the samples in each bone's local frame
    fall, heat : (B, L) and (B,), -1 / 2 width²
    offsets, coefficients : (B, L, V) and (B, L, S, V), V = 4 + K + D
    blended : (1,)
    starts, columns, levers, drawn : what rotations and points add to the equations of the positions
    centres : (B, 3)
    """

    samples: Floats
    near: Ints32
    rest: Floats
    holds: Floats
    local_rest: Floats
    spread: Floats
    local_samples: Floats
    fall: Floats
    heat: Floats
    offsets: Floats
    coefficients: Floats
    blended: Ints32
    starts: Ints32
    columns: Ints32
    levers: Floats
    drawn: Floats
    centres: Floats


def bone_tables(bones: LearnedBones, positions: BonePositions) -> BoneTables:
    """Return the tables of bones whose positions are solved for by `positions`."""
    return BoneTables(
        np.ascontiguousarray(bones.samples - bones.rest, dtype=np.float64),
        owned("bones' near", bones.near, len(bones.points)),
        np.ascontiguousarray(bones.rest, dtype=np.float64),
        *_local_frames(bones),
        -0.5 / bones.widths.astype(np.float64) ** 2,
        -0.5 / bones.heat.astype(np.float64) ** 2,
        np.ascontiguousarray(bones.offsets, dtype=np.float64),
        np.ascontiguousarray(bones.coefficients, dtype=np.float64),
        np.array([bones.blended], np.int32),
        positions.starts,
        owned("bones' columns", positions.columns, len(bones)),
        positions.levers,
        np.ascontiguousarray(positions.pulls, dtype=np.float64),
        np.ascontiguousarray(bones.centres, dtype=np.float64),
    )


def _local_frames(bones: LearnedBones) -> tuple[Floats, Floats, Floats, Floats]:
    """The tables `holds`, `local_rest`, `spread` and `local_samples`; empty where the bones have no local frames."""
    if bones.holds is None:
        return np.zeros((0, 1)), np.zeros((0, 1, 3)), np.zeros(0), np.zeros((0, 1, 1, 3))
    holds, rest = np.ascontiguousarray(bones.holds, dtype=np.float64), bones.rest[bones.near]
    local_rest = np.ascontiguousarray(rest - np.einsum("bc,bcx->bx", holds, rest)[:, None], dtype=np.float64)
    spread = UPRIGHT * np.einsum("bc,bcx,bcx->b", holds, local_rest, local_rest) + 1e-30
    return holds, local_rest, spread, np.ascontiguousarray(bones.local_samples, dtype=np.float64)
