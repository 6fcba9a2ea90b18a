"""Learned bones, the first stage where joints are control points: rotations, then places, of all bones at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import prange

from posespace.check import LARGEST, Floats, Floats32
from posespace.errors import InputError
from posespace.geometry.local_frames import UPRIGHT
from posespace.geometry.nearest_rotation import nearest_rotation
from posespace.runtime.compiled import Ints32, on_all_cores, relaxed
from posespace.runtime.drive.tables import ROTATION, TRANSFORM, TRANSLATION
from posespace.runtime.entries import owned
from posespace.skin.bones.learned import LearnedBones
from posespace.skin.skin import Skin


class BoneTables(NamedTuple):
    """What the loops read; see `LearnedBones` and `BonePositions`.

    Parameters
    ----------
    samples : (S, M, 3) shifts of the points from rest
    near : (B, C)
    rest : (M, 3) the points at rest
    holds : (B, C), or (0, C) where the bones see the points from the frame of the whole
    still, spread : (B, C, 3) and (B,) the points of each frame at rest, and what keeps it upright
    own : (B, S, C, 3) the samples as each bone sees them
    fall, heat : (B, L) and (B,), -1 / 2 width²
    offsets, coefficients : (B, L, V) and (B, L, S, V), V = 4 + K + D
    blended : (1,)
    starts, columns, levers, drawn : what rotations and points add to the equations of the places
    centres : (B, 3)
    """

    samples: Floats
    near: Ints32
    rest: Floats
    holds: Floats
    still: Floats
    spread: Floats
    own: Floats
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


class PosedBones:
    """The learned bones of a skin, posed.

    Parameters
    ----------
    skin : a skin that has some
    threads : how many cores work on a frame

    Attributes
    ----------
    nbytes : bytes that a frame reads
    """

    def __init__(self, skin: Skin, threads: int = 1) -> None:
        self._threads = threads
        bones, places = skin.bones, skin.bone_positions
        assert bones is not None
        self._bones = bones
        count = len(bones)
        self._tables = BoneTables(
            np.ascontiguousarray(bones.samples - bones.rest, dtype=np.float64),
            owned("bones' near", bones.near, len(bones.points)),
            bones.rest.astype(np.float64),
            *_frames(bones),
            -0.5 / bones.widths.astype(np.float64) ** 2,
            -0.5 / bones.heat.astype(np.float64) ** 2,
            bones.offsets.astype(np.float64),
            bones.coefficients.astype(np.float64),
            np.array([bones.blended], np.int32),
            places.starts,
            owned("bones' columns", places.columns, count),
            places.levers,
            places.pulls,
            bones.centres.astype(np.float64),
        )
        self._inverse: Floats32 = places.inverse.astype(np.float32)
        self.nbytes = self._inverse.nbytes + sum(table.nbytes for table in self._tables)

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._threads = 1

    def align(self, poses: Floats) -> tuple[Floats, Floats]:
        """Take the rigid motion of the whole out of the numbers of poses (P, ...), in place, and return it."""
        joints = len(self._bones.points) + 1
        turns = poses[:, : ROTATION * joints].reshape(-1, joints, ROTATION)
        shifts = poses[:, ROTATION * joints : (ROTATION + TRANSLATION) * joints].reshape(-1, joints, TRANSLATION)
        own, turn, shift = self._bones.aligned(turns, shifts)
        poses[:, : ROTATION * joints] = np.tile((0.0, 0.0, 0.0, 1.0), joints)
        poses[:, ROTATION * joints : (ROTATION + TRANSLATION) * joints] = own.reshape(len(own), -1)
        return turn, shift

    def palettes(self, poses: Floats) -> tuple[Floats32, Floats32]:
        """Return the bones' transforms (P, 12 B) in poses and their amounts (P, B, K + D).

        The numbers of the poses lose the rigid motion of the whole.
        """
        whole = self.align(poses)
        joints, count = len(self._bones.points) + 1, len(self._bones)
        first = ROTATION * joints + TRANSLATION
        turns = np.empty((len(poses), count, 9))
        amounts = np.empty((len(poses), count, self._tables.offsets.shape[2] - 4), np.float32)
        asked, places = (np.empty((3 * len(poses), count), np.float32) for _ in range(2))
        for row, pose in enumerate(poses):
            shifts = pose[first : first + TRANSLATION * (joints - 1)].reshape(-1, TRANSLATION)
            self._turn(shifts, turns[row], amounts[row])
            _ask(self._tables, shifts, turns[row], row, asked)
        self._solve(asked, places)
        palettes = np.empty((len(poses), TRANSFORM * count), np.float32)
        for row in range(len(poses)):
            _compose(self._tables.centres, turns[row], places, row, whole[0][row], whole[1][row], palettes[row])
        if not np.abs(palettes).max(initial=0.0) <= LARGEST:
            raise InputError(f"pose: expected bone transforms from {-LARGEST:g} to {LARGEST:g}, got others")
        return palettes, amounts

    def _turn(self, shifts: Floats, turns: Floats, amounts: Floats32) -> None:
        if self._threads > 1:
            _turn(self._threads, self._tables, shifts, turns, amounts)
        else:
            _turn_some(0, len(turns), self._tables, shifts, turns, amounts)

    def _solve(self, asked: Floats32, places: Floats32) -> None:
        if self._threads > 1:
            _solve(self._threads, self._inverse, asked, places)
        else:
            _solve_some(0, len(self._inverse), self._inverse, asked, places)


def _frames(bones: LearnedBones) -> tuple[Floats, Floats, Floats, Floats]:
    """The tables `holds`, `still`, `spread` and `own`; empty where the bones have no frames of their own."""
    if bones.holds is None:
        return np.zeros((0, 1)), np.zeros((0, 1, 3)), np.zeros(0), np.zeros((0, 1, 1, 3))
    holds, rest = bones.holds.astype(np.float64), bones.rest[bones.near]
    still = rest - np.einsum("bc,bcx->bx", holds, rest)[:, None]
    spread = UPRIGHT * np.einsum("bc,bcx,bcx->b", holds, still, still) + 1e-30
    return holds, still, spread, bones.local_samples


@relaxed
def _turn_some(
    begin: int, end: int, tables: BoneTables, shifts: Floats, turns: Floats, amounts: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the rotations (B, 9) of some bones and their amounts (B, K + D) from the shifts (M, 3) of the points."""
    samples, near, models = tables.samples, tables.near, tables.fall.shape[1]
    local_frames, size = len(tables.holds) > 0, tables.offsets.shape[2]
    frame, turned, seen = np.eye(3), np.empty((3, 3)), np.empty((near.shape[1], 3))
    count = len(samples)
    every, squares = np.empty((count, len(shifts))), np.empty(count)
    for s in range(0 if local_frames else count):
        for m in range(len(shifts)):
            x, y, z = shifts[m, 0] - samples[s, m, 0], shifts[m, 1] - samples[s, m, 1], shifts[m, 2] - samples[s, m, 2]
            every[s, m] = x * x + y * y + z * z
    found, own = np.empty(size), np.empty(size)
    for bone in range(begin, end):
        if local_frames:
            _see(tables, bone, shifts, seen, frame, squares)
        else:
            for s in range(count):
                total = 0.0
                for c in range(near.shape[1]):
                    total += every[s, near[bone, c]]
                squares[s] = total
        if models == 1:
            _predict(tables, bone, 0, squares, found)
        else:
            _blend(tables, bone, squares, found, own)
        for k in range(size - 4):
            amounts[bone, k] = found[4 + k]
        _matrix(found, turned)
        for i in range(3):
            for j in range(3):
                turns[bone, 3 * i + j] = (
                    frame[i, 0] * turned[0, j] + frame[i, 1] * turned[1, j] + frame[i, 2] * turned[2, j]
                )


@on_all_cores
def _turn(
    parts: int, tables: BoneTables, shifts: Floats, turns: Floats, amounts: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the rotations and amounts of all bones."""
    count = len(tables.near)
    for part in prange(parts):
        _turn_some(part * count // parts, (part + 1) * count // parts, tables, shifts, turns, amounts)


@relaxed
def _see(
    tables: BoneTables, bone: int, shifts: Floats, seen: Floats, frame: Floats, squares: Floats
) -> None:  # pragma: no cover - compiled
    """Write the frame (3, 3) that moves with a bone's points, and how far (S,) they are in it from the samples."""
    near, holds, still = tables.near[bone], tables.holds[bone], tables.still[bone]
    middle, product = np.zeros(3), np.zeros((3, 3))
    for c in range(len(near)):
        for i in range(3):
            seen[c, i] = tables.rest[near[c], i] + shifts[near[c], i]
            middle[i] += holds[c] * seen[c, i]
    for c in range(len(near)):
        for i in range(3):
            seen[c, i] -= middle[i]
        for i in range(3):
            for j in range(3):
                product[i, j] += holds[c] * seen[c, i] * still[c, j]
    for i in range(3):
        product[i, i] += tables.spread[bone]
    nearest_rotation(product, frame)
    for c in range(len(near)):
        x, y, z = seen[c, 0], seen[c, 1], seen[c, 2]
        for j in range(3):
            seen[c, j] = x * frame[0, j] + y * frame[1, j] + z * frame[2, j]
    for s in range(len(squares)):
        total = 0.0
        for c in range(len(near)):
            for j in range(3):
                gap = seen[c, j] - tables.own[bone, s, c, j]
                total += gap * gap
        squares[s] = total


@relaxed
def _matrix(quaternion: Floats, out: Floats) -> None:  # pragma: no cover - compiled
    """Write the matrix (3, 3) of a unit quaternion."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    out[0, 0], out[0, 1], out[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    out[1, 0], out[1, 1], out[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    out[2, 0], out[2, 1], out[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


@relaxed
def _predict(
    tables: BoneTables, bone: int, model: int, squares: Floats, out: Floats
) -> None:  # pragma: no cover - compiled
    """Write the unit quaternion and amounts (V,) that a model gives at squared distances (S,) from the samples."""
    fall, weights = tables.fall[bone, model], tables.coefficients[bone, model]
    for k in range(len(out)):
        out[k] = tables.offsets[bone, model, k]
    for s in range(len(squares)):
        kernel = math.exp(fall * squares[s])
        for k in range(len(out)):
            out[k] += kernel * weights[s, k]
    _unit(out)


@relaxed
def _blend(
    tables: BoneTables, bone: int, squares: Floats, out: Floats, own: Floats
) -> None:  # pragma: no cover - compiled
    """Write the unit quaternion and amounts (V,) that the models of the nearest samples give together."""
    left = squares.copy()
    first, least, total = np.empty(4), 0.0, 0.0
    out[:] = 0.0
    for taken in range(tables.blended[0]):
        nearest = 0
        for s in range(1, len(left)):
            if left[s] < left[nearest]:
                nearest = s
        _predict(tables, bone, nearest, squares, own)
        if taken == 0:
            first[:] = own[:4]
            least = squares[nearest]
        share = math.exp(tables.heat[bone] * (squares[nearest] - least))
        total += share
        for k in range(4, len(out)):
            out[k] += share * own[k]
        agree = first[0] * own[0] + first[1] * own[1] + first[2] * own[2] + first[3] * own[3]
        if agree < 0.0:
            share = -share
        for k in range(4):
            out[k] += share * own[k]
        left[nearest] = 1e300
    for k in range(4, len(out)):
        out[k] /= total
    _unit(out)


@relaxed
def _unit(quaternion: Floats) -> None:  # pragma: no cover - compiled
    """Bring the four numbers of a quaternion to unit length; one of no length stands for no rotation."""
    length = math.sqrt(quaternion[0] ** 2 + quaternion[1] ** 2 + quaternion[2] ** 2 + quaternion[3] ** 2)
    if length < 1e-12:
        quaternion[:3] = 0.0
        quaternion[3] = 1.0
    else:
        for k in range(4):
            quaternion[k] /= length


@relaxed
def _ask(
    tables: BoneTables, shifts: Floats, turns: Floats, row: int, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write what rotations and shifts ask of the places, as rows 3 row to 3 row + 2 of (..., B)."""
    for bone in range(len(tables.starts) - 1):
        x = y = z = 0.0
        for entry in range(tables.starts[bone], tables.starts[bone + 1]):
            turn = turns[tables.columns[entry]]
            a, b, c = tables.levers[entry, 0], tables.levers[entry, 1], tables.levers[entry, 2]
            x += (turn[0] - 1.0) * a + turn[1] * b + turn[2] * c
            y += turn[3] * a + (turn[4] - 1.0) * b + turn[5] * c
            z += turn[6] * a + turn[7] * b + (turn[8] - 1.0) * c
        for m in range(len(shifts)):
            share = tables.drawn[bone, m]
            x, y, z = x + share * shifts[m, 0], y + share * shifts[m, 1], z + share * shifts[m, 2]
        out[3 * row, bone], out[3 * row + 1, bone], out[3 * row + 2, bone] = x, y, z


@relaxed
def _solve_some(
    begin: int, end: int, inverse: Floats32, asked: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write some columns of the places (R, B): the rows of the inverse (B, B) times what is asked (R, B)."""
    for bone in range(begin, end):
        for row in range(len(asked)):
            total = np.float32(0.0)
            for other in range(inverse.shape[1]):
                total += inverse[bone, other] * asked[row, other]
            out[row, bone] = total


@on_all_cores
def _solve(parts: int, inverse: Floats32, asked: Floats32, out: Floats32) -> None:  # pragma: no cover - compiled
    """Write the places of all bones. A library's product would leave threads behind that the other loops wait for."""
    count = len(inverse)
    for part in prange(parts):
        _solve_some(part * count // parts, (part + 1) * count // parts, inverse, asked, out)


@relaxed
def _compose(
    centres: Floats, turns: Floats, moved: Floats32, row: int, whole: Floats, shift: Floats, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write transforms (12 B,): turned about the centres, which are moved, then moved as the whole is."""
    for bone in range(len(centres)):
        for i in range(3):
            last = shift[i]
            for j in range(3):
                last += whole[i, j] * (centres[bone, j] + moved[3 * row + j, bone])
            for j in range(3):
                own = whole[i, 0] * turns[bone, j] + whole[i, 1] * turns[bone, 3 + j] + whole[i, 2] * turns[bone, 6 + j]
                out[12 * bone + 4 * i + j] = own
                last -= own * centres[bone, j]
            out[12 * bone + 4 * i + 3] = last
