"""Learned bones, the first stage where joints are control points: rotations, then positions, of all bones at once."""

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
        bones, positions = skin.bones, skin.bone_positions
        assert bones is not None
        self._bones = bones
        count = len(bones)
        self._tables = BoneTables(
            np.ascontiguousarray(bones.samples - bones.rest, dtype=np.float64),
            owned("bones' near", bones.near, len(bones.points)),
            bones.rest.astype(np.float64),
            *_local_frames(bones),
            -0.5 / bones.widths.astype(np.float64) ** 2,
            -0.5 / bones.heat.astype(np.float64) ** 2,
            bones.offsets.astype(np.float64),
            bones.coefficients.astype(np.float64),
            np.array([bones.blended], np.int32),
            positions.starts,
            owned("bones' columns", positions.columns, count),
            positions.levers,
            positions.pulls,
            bones.centres.astype(np.float64),
        )
        self._inverse: Floats32 = positions.inverse.astype(np.float32)
        self.nbytes = self._inverse.nbytes + sum(table.nbytes for table in self._tables)

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._threads = 1

    def align(self, poses: Floats) -> tuple[Floats, Floats]:
        """Take the rigid motion of the whole out of the numbers of poses (P, ...), in place, and return it."""
        joints = len(self._bones.points) + 1
        quaternions = poses[:, : ROTATION * joints].reshape(-1, joints, ROTATION)
        translations = poses[:, ROTATION * joints : (ROTATION + TRANSLATION) * joints].reshape(-1, joints, TRANSLATION)
        aligned, rotation, translation = self._bones.aligned(quaternions, translations)
        poses[:, : ROTATION * joints] = np.tile((0.0, 0.0, 0.0, 1.0), joints)
        poses[:, ROTATION * joints : (ROTATION + TRANSLATION) * joints] = aligned.reshape(len(aligned), -1)
        return rotation, translation

    def palettes(self, poses: Floats) -> tuple[Floats32, Floats32]:
        """Return the bones' transforms (P, 12 B) in poses and their amounts (P, B, K + D).

        The numbers of the poses lose the rigid motion of the whole.
        """
        whole = self.align(poses)
        joints, count = len(self._bones.points) + 1, len(self._bones)
        first = ROTATION * joints + TRANSLATION
        rotations = np.empty((len(poses), count, 9))
        amounts = np.empty((len(poses), count, self._tables.offsets.shape[2] - 4), np.float32)
        sums, moved = (np.empty((3 * len(poses), count), np.float32) for _ in range(2))
        for row, pose in enumerate(poses):
            translations = pose[first : first + TRANSLATION * (joints - 1)].reshape(-1, TRANSLATION)
            self._predict(translations, rotations[row], amounts[row])
            _add_up(self._tables, translations, rotations[row], row, sums)
        self._solve(sums, moved)
        palettes = np.empty((len(poses), TRANSFORM * count), np.float32)
        for row in range(len(poses)):
            _compose(self._tables.centres, rotations[row], moved, row, whole[0][row], whole[1][row], palettes[row])
        if not np.abs(palettes).max(initial=0.0) <= LARGEST:
            raise InputError(f"pose: expected bone transforms from {-LARGEST:g} to {LARGEST:g}, got others")
        return palettes, amounts

    def _predict(self, translations: Floats, rotations: Floats, amounts: Floats32) -> None:
        if self._threads > 1:
            _predict(self._threads, self._tables, translations, rotations, amounts)
        else:
            _predict_some(0, len(rotations), self._tables, translations, rotations, amounts)

    def _solve(self, sums: Floats32, moved: Floats32) -> None:
        if self._threads > 1:
            _solve(self._threads, self._inverse, sums, moved)
        else:
            _solve_some(0, len(self._inverse), self._inverse, sums, moved)


def _local_frames(bones: LearnedBones) -> tuple[Floats, Floats, Floats, Floats]:
    """The tables `holds`, `local_rest`, `spread` and `local_samples`; empty where the bones have no local frames."""
    if bones.holds is None:
        return np.zeros((0, 1)), np.zeros((0, 1, 3)), np.zeros(0), np.zeros((0, 1, 1, 3))
    holds, rest = bones.holds.astype(np.float64), bones.rest[bones.near]
    local_rest = rest - np.einsum("bc,bcx->bx", holds, rest)[:, None]
    spread = UPRIGHT * np.einsum("bc,bcx,bcx->b", holds, local_rest, local_rest) + 1e-30
    return holds, local_rest, spread, bones.local_samples


@relaxed
def _predict_some(
    begin: int, end: int, tables: BoneTables, translations: Floats, rotations: Floats, amounts: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the rotations (B, 9) of some bones and their amounts (B, K + D) from translations (M, 3) of the points."""
    samples, near, models = tables.samples, tables.near, tables.fall.shape[1]
    is_local, size, count = len(tables.holds) > 0, tables.offsets.shape[2], len(samples)
    axes, relative, local = np.eye(3), np.empty((3, 3)), np.empty((near.shape[1], 3))
    point_squares, squares = np.empty((count, len(translations))), np.empty(count)
    for s in range(0 if is_local else count):
        for m in range(len(translations)):
            x, y = translations[m, 0] - samples[s, m, 0], translations[m, 1] - samples[s, m, 1]
            z = translations[m, 2] - samples[s, m, 2]
            point_squares[s, m] = x * x + y * y + z * z
    values, model_values = np.empty(size), np.empty(size)
    for bone in range(begin, end):
        if is_local:
            _local_squares(tables, bone, translations, local, axes, squares)
        else:
            for s in range(count):
                total = 0.0
                for c in range(near.shape[1]):
                    total += point_squares[s, near[bone, c]]
                squares[s] = total
        if models == 1:
            _evaluate(tables, bone, models - 1, squares, values)
        else:
            _blend(tables, bone, squares, values, model_values)
        for k in range(size - 4):
            amounts[bone, k] = values[4 + k]
        _matrix(values, relative)
        for i in range(3):
            for j in range(3):
                rotations[bone, 3 * i + j] = (
                    axes[i, 0] * relative[0, j] + axes[i, 1] * relative[1, j] + axes[i, 2] * relative[2, j]
                )


@on_all_cores
def _predict(
    parts: int, tables: BoneTables, translations: Floats, rotations: Floats, amounts: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the rotations and amounts of all bones."""
    count = len(tables.near)
    for part in prange(parts):
        _predict_some(part * count // parts, (part + 1) * count // parts, tables, translations, rotations, amounts)


@relaxed
def _local_squares(
    tables: BoneTables, bone: int, translations: Floats, local: Floats, axes: Floats, squares: Floats
) -> None:  # pragma: no cover - compiled
    """Write the axes (3, 3) that move with a bone's points, and their squared distances (S,) there from the samples."""
    near, holds, rest = tables.near[bone], tables.holds[bone], tables.local_rest[bone]
    middle, product = np.zeros(3), np.zeros((3, 3))
    for c in range(len(near)):
        for i in range(3):
            local[c, i] = tables.rest[near[c], i] + translations[near[c], i]
            middle[i] += holds[c] * local[c, i]
    for c in range(len(near)):
        for i in range(3):
            local[c, i] -= middle[i]
        for i in range(3):
            for j in range(3):
                product[i, j] += holds[c] * local[c, i] * rest[c, j]
    for i in range(3):
        product[i, i] += tables.spread[bone]
    nearest_rotation(product, axes)
    for c in range(len(near)):
        x, y, z = local[c, 0], local[c, 1], local[c, 2]
        for j in range(3):
            local[c, j] = x * axes[0, j] + y * axes[1, j] + z * axes[2, j]
    for s in range(len(squares)):
        total = 0.0
        for c in range(len(near)):
            for j in range(3):
                gap = local[c, j] - tables.local_samples[bone, s, c, j]
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
def _evaluate(
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
    tables: BoneTables, bone: int, squares: Floats, out: Floats, values: Floats
) -> None:  # pragma: no cover - compiled
    """Write the unit quaternion and amounts (V,) that the models of the nearest samples give together.

    `values` (V,) is overwritten.
    """
    remaining = squares.copy()
    first, least, total = np.empty(4), 0.0, 0.0
    out[:] = 0.0
    for taken in range(tables.blended[0]):
        nearest = 0
        for s in range(1, len(remaining)):
            if remaining[s] < remaining[nearest]:
                nearest = s
        _evaluate(tables, bone, nearest, squares, values)
        if taken == 0:
            first[:] = values[:4]
            least = squares[nearest]
        share = math.exp(tables.heat[bone] * (squares[nearest] - least))
        total += share
        for k in range(4, len(out)):
            out[k] += share * values[k]
        dot = first[0] * values[0] + first[1] * values[1] + first[2] * values[2] + first[3] * values[3]
        if dot < 0.0:
            share = -share
        for k in range(4):
            out[k] += share * values[k]
        remaining[nearest] = 1e300
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
def _add_up(
    tables: BoneTables, translations: Floats, rotations: Floats, row: int, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write the right-hand side of the positions' equations, as rows 3 row to 3 row + 2 of (..., B)."""
    for bone in range(len(tables.starts) - 1):
        x = y = z = 0.0
        for entry in range(tables.starts[bone], tables.starts[bone + 1]):
            r = rotations[tables.columns[entry]]
            a, b, c = tables.levers[entry, 0], tables.levers[entry, 1], tables.levers[entry, 2]
            x += (r[0] - 1.0) * a + r[1] * b + r[2] * c
            y += r[3] * a + (r[4] - 1.0) * b + r[5] * c
            z += r[6] * a + r[7] * b + (r[8] - 1.0) * c
        for m in range(len(translations)):
            share = tables.drawn[bone, m]
            x += share * translations[m, 0]
            y += share * translations[m, 1]
            z += share * translations[m, 2]
        out[3 * row, bone], out[3 * row + 1, bone], out[3 * row + 2, bone] = x, y, z


@relaxed
def _solve_some(
    begin: int, end: int, inverse: Floats32, sums: Floats32, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write some columns of how far centres move (R, B): rows of the inverse (B, B) times right-hand sides (R, B)."""
    for bone in range(begin, end):
        for row in range(len(sums)):
            total = np.float32(0.0)
            for other in range(inverse.shape[1]):
                total += inverse[bone, other] * sums[row, other]
            out[row, bone] = total


@on_all_cores
def _solve(parts: int, inverse: Floats32, sums: Floats32, out: Floats32) -> None:  # pragma: no cover - compiled
    """Write how far the centres of all bones move.

    A library's product would leave threads behind that the other loops wait for.
    """
    count = len(inverse)
    for part in prange(parts):
        _solve_some(part * count // parts, (part + 1) * count // parts, inverse, sums, out)


@relaxed
def _compose(
    centres: Floats, rotations: Floats, moved: Floats32, row: int, whole: Floats, translation: Floats, out: Floats32
) -> None:  # pragma: no cover - compiled
    """Write transforms (12 B,): rotated about the centres, which are moved, then moved as the whole is."""
    for bone in range(len(centres)):
        r = rotations[bone]
        for i in range(3):
            last = translation[i]
            for j in range(3):
                last += whole[i, j] * (centres[bone, j] + moved[3 * row + j, bone])
            for j in range(3):
                value = whole[i, 0] * r[j] + whole[i, 1] * r[3 + j] + whole[i, 2] * r[6 + j]
                out[12 * bone + 4 * i + j] = value
                last -= value * centres[bone, j]
            out[12 * bone + 4 * i + 3] = last
