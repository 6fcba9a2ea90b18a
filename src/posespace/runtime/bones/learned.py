"""Learned bones, the first stage where joints are control points: rotations, then positions, of all bones at once."""

from __future__ import annotations

import numpy as np

from posespace.check import LARGEST, Floats, Floats32
from posespace.errors import InputError
from posespace.geometry.rotations import IDENTITY
from posespace.mesh import Mesh
from posespace.runtime.bones.alignment import Alignment
from posespace.runtime.bones.prediction import predict, predict_some
from posespace.runtime.bones.solving import add_up, add_up_some, compose, solve, solve_some
from posespace.runtime.bones.stage import DrivenBones
from posespace.runtime.bones.tables import bone_tables
from posespace.runtime.drive.tables import POSE_NUMBERS, ROTATION, TRANSFORM, TRANSLATION
from posespace.skin.bones.learned import LearnedBones


class PlayedLearnedBones:
    """Learned bones, played.

    Parameters
    ----------
    bones : what is played
    mesh : that they move
    threads : how many cores work on a frame

    Attributes
    ----------
    joint_numbers : 0, as no joint is a bone
    nbytes : bytes that a frame reads
    """

    joint_numbers = 0

    def __init__(self, bones: LearnedBones, mesh: Mesh, threads: int) -> None:
        self._bones, self._threads = bones, threads
        positions = bones.positions(mesh)
        self._align, self._tables = Alignment(bones), bone_tables(bones, positions)
        self._inverse = np.ascontiguousarray(positions.inverse)
        self.nbytes = self._inverse.nbytes + sum(table.nbytes for table in self._tables)

    def on_one_core(self) -> None:
        """Use one core from now on."""
        self._threads = 1

    def drive(self, poses: Floats, joint_palettes: Floats32) -> DrivenBones:
        """Return the poses aligned, the palettes (P, 12 B) and the amounts (P, B, K + D); no joint is driven."""
        del joint_palettes
        joints = len(self._bones.points) + 1
        quaternions = poses[:, : ROTATION * joints].reshape(-1, joints, ROTATION)
        translations = poses[:, ROTATION * joints : POSE_NUMBERS * joints].reshape(-1, joints, TRANSLATION)
        aligned, rotation, translation = self._align(quaternions, translations)
        still, controls = np.tile(IDENTITY, (len(poses), joints)), poses[:, POSE_NUMBERS * joints :]
        aligned_poses = np.concatenate([still, aligned.reshape(len(poses), -1), controls], axis=1)
        return DrivenBones(aligned_poses, *self._drive_aligned(aligned[:, 1:], rotation, translation))

    def _drive_aligned(self, translations: Floats, rotation: Floats, translation: Floats) -> tuple[Floats32, Floats32]:
        """The palettes (P, 12 B) and amounts (P, B, K + D).

        Parameters
        ----------
        translations : (P, M, 3) of the control points from rest, without the rigid motion of the whole
        rotation, translation : (P, 3, 3) and (P, 3), that motion
        """
        poses, count = len(translations), len(self._bones)
        rotations = np.empty((poses, count, 9))
        amounts = np.empty((poses, count, self._tables.offsets.shape[2] - 4), np.float32)
        sums, moved = (np.empty((3 * poses, count)) for _ in range(2))
        for row, points in enumerate(translations):
            self._predict(points, rotations[row], amounts[row])
            self._add_up(points, rotations[row], row, sums)
        self._solve(sums, moved)
        palettes = np.empty((poses, TRANSFORM * count), np.float32)
        for row in range(poses):
            compose(self._tables.centres, rotations[row], moved, row, rotation[row], translation[row], palettes[row])
        if not np.abs(palettes).max(initial=0.0) <= LARGEST:
            raise InputError(f"pose: expected bone transforms from {-LARGEST:g} to {LARGEST:g}, got others")
        return palettes, amounts

    def _predict(self, translations: Floats, rotations: Floats, amounts: Floats32) -> None:
        if self._threads > 1:
            predict(self._threads, self._tables, translations, rotations, amounts)
        else:
            predict_some(0, len(rotations), self._tables, translations, rotations, amounts)

    def _add_up(self, translations: Floats, rotations: Floats, row: int, sums: Floats) -> None:
        if self._threads > 1:
            add_up(self._threads, self._tables, translations, rotations, row, sums)
        else:
            add_up_some(0, len(rotations), self._tables, translations, rotations, row, sums)

    def _solve(self, sums: Floats, moved: Floats) -> None:
        if self._threads > 1:
            solve(self._threads, self._inverse, sums, moved)
        else:
            solve_some(0, len(self._inverse), self._inverse, sums, moved)
