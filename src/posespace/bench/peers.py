"""Plain skinning and scattered interpolation as others offer them, each called as its users call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posespace.check import Floats, Floats32
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin.skin import Skin

Call = Callable[[], Any]


def einsum(rig: Rig, pose: Pose) -> Call:
    """NumPy: blend the transforms of each vertex, apply them; single precision."""
    transforms = rig.transforms(pose).astype(np.float32)
    weights, points = rig.weights.astype(np.float32), rig.mesh.points.astype(np.float32)

    def call() -> Floats32:
        blend = np.einsum("nk,nkij->nij", weights, transforms[rig.influences])
        moved: Floats32 = np.einsum("nij,nj->ni", blend[:, :, :3], points) + blend[:, :, 3]
        return moved

    return call


def usd(rig: Rig, pose: Pose) -> Call | None:
    """OpenUSD's `UsdSkel.SkinPointsLBS`, in C++ on all cores; None where it is not installed."""
    try:
        from pxr import Gf, UsdSkel, Vt
    except ImportError:
        return None
    full = np.tile(np.eye(4), (len(rig.skeleton), 1, 1))
    full[:, :3] = rig.transforms(pose)
    # Its matrices act on rows.
    transforms = Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(np.swapaxes(full, 1, 2)))
    joints = Vt.IntArray.FromNumpy(rig.influences.astype(np.int32).ravel())
    weights = Vt.FloatArray.FromNumpy(rig.weights.astype(np.float32).ravel())
    rest = Vt.Vec3fArray.FromNumpy(rig.mesh.points.astype(np.float32))
    slots, bind = rig.weights.shape[1], Gf.Matrix4d(1)

    def call() -> Any:
        points = Vt.Vec3fArray(rest)
        UsdSkel.SkinPointsLBS(bind, transforms, joints, weights, slots, points)
        return points

    return call


def igl(rig: Rig, pose: Pose) -> Call | None:
    """libigl's `lbs_matrix`: a matrix made once, multiplied with the transforms; None where it is not installed."""
    try:
        from igl import lbs_matrix
    except ImportError:
        return None
    matrix = np.asarray(lbs_matrix(rig.mesh.points.astype(np.float64), rig.dense_weights()))
    stacked = np.swapaxes(rig.transforms(pose), 1, 2).reshape(-1, 3)
    return lambda: matrix @ stacked


def scipy_drive(skin: Skin, pose: Pose) -> Call:
    """SciPy's `RBFInterpolator`, one per layer, on the joints' quaternions."""
    from scipy.interpolate import RBFInterpolator

    interpolators = []
    for layer in skin.layers:
        centres = layer.driver.interpolant.centres
        values = layer.driver.interpolant(centres)
        position = layer.driver.space.coordinates(pose, skin.rig.skeleton)[None]
        interpolators.append((RBFInterpolator(centres, values, kernel="linear"), position))

    def call() -> list[Floats]:
        return [interpolator(position) for interpolator, position in interpolators]

    return call


def memory_copy(megabytes: int = 256) -> tuple[Call, int]:
    """A copy of a large array on all cores, as fast as memory allows, and the bytes that it reads and writes."""
    from posespace.bench.copying import copy

    source = np.ones(megabytes * 2**17, np.float64)
    target = np.zeros_like(source)
    return lambda: copy(source, target), 2 * source.nbytes
