"""Residuals of all examples: the displacements of the rest shape that plain skinning lacks, one compiled pass a pose.

`Examples.residual` is the same for one pose in plain NumPy; this one is for data that a fit reads several times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Floats32, Ints
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.geometry import skinning
from posespace.geometry.skinning import DAMPING
from posespace.jit import njit
from posespace.progress import track


@dataclass(frozen=True, eq=False)
class Residuals:
    """Displacements of all examples in the rest shape.

    Parameters
    ----------
    values : (P, N, 3) float32
    damped : number of vertices, over all poses, whose displacement is damped because their blend nearly loses rank
    """

    values: Floats32
    damped: int


def point_residuals(examples: Examples) -> Residuals:
    """Return the displacements that plain skinning lacks at each example; vertices at a seam share theirs."""
    values = np.empty((len(examples), *examples.rig.mesh.points.shape), dtype=np.float32)
    damped = sum(residual_into(examples, index, values[index]) for index in track(range(len(examples)), "residuals"))
    return Residuals(values, damped)


def residual_into(examples: Examples, index: int, out: Floats32) -> int:
    """Write the residual of an example to `out` (N, 3); return how many vertices are damped."""
    rig, name = examples.rig, examples.motion.names[index]
    shape = check.floats(f"shape of pose {name!r}", examples.shapes[index], rig.mesh.points.shape)
    pose = examples.motion[index]
    if rig.blending == "linear":
        rest = np.ascontiguousarray(rig.mesh.points, dtype=np.float64)
        transforms = rig.transforms(pose).astype(np.float64)
        rows = np.flatnonzero(_residual(transforms, rig.influences, rig.weights, rest, shape, out))
        blend = skinning.blend_linear(transforms, rig.influences[rows], rig.weights[rows])
        inverse, damped = skinning.invert(blend)
        out[rows] = skinning.residual(blend, inverse, rest[rows], shape[rows])
    else:
        out[:], damped = rig.residual(pose, shape)
    rig.mesh.shading.average(out)
    if not np.isfinite(out).all():
        raise InputError(f"shape of pose {name!r}: its numbers are too large")
    return int(damped.sum())


def normal_residuals(examples: Examples) -> Floats32:
    """Return what must be added to the rest normals (P, N, 3) so that skinning gives each example's normals."""
    rig = examples.rig
    values = np.empty((len(examples), *rig.mesh.points.shape), dtype=np.float32)
    for index in track(range(len(examples)), "normals"):
        observed = rig.mesh.normals(np.asarray(examples.shapes[index]))
        values[index] = rig.normal_residual(examples.motion[index], observed)
    return values


@njit(parallel=True, error_model="numpy")
def _residual(
    transforms: Floats, influences: Ints, weights: Floats, rest: Floats, shape: Floats, out: Floats32
) -> NDArray[np.bool_]:  # pragma: no cover - compiled
    """Write M⁻¹(v_observed - M v) of each vertex to `out`, and return which blends are close to losing rank."""
    count, slots = influences.shape
    suspect = np.zeros(count, dtype=np.bool_)
    for vertex in prange(count):
        m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = m8 = m9 = m10 = m11 = 0.0
        for slot in range(slots):
            weight, bone = weights[vertex, slot], influences[vertex, slot]
            m0 += weight * transforms[bone, 0, 0]
            m1 += weight * transforms[bone, 0, 1]
            m2 += weight * transforms[bone, 0, 2]
            m3 += weight * transforms[bone, 0, 3]
            m4 += weight * transforms[bone, 1, 0]
            m5 += weight * transforms[bone, 1, 1]
            m6 += weight * transforms[bone, 1, 2]
            m7 += weight * transforms[bone, 1, 3]
            m8 += weight * transforms[bone, 2, 0]
            m9 += weight * transforms[bone, 2, 1]
            m10 += weight * transforms[bone, 2, 2]
            m11 += weight * transforms[bone, 2, 3]
        x, y, z = rest[vertex, 0], rest[vertex, 1], rest[vertex, 2]
        gx = shape[vertex, 0] - (m0 * x + m1 * y + m2 * z + m3)
        gy = shape[vertex, 1] - (m4 * x + m5 * y + m6 * z + m7)
        gz = shape[vertex, 2] - (m8 * x + m9 * y + m10 * z + m11)
        c00, c01, c02 = m5 * m10 - m6 * m9, m6 * m8 - m4 * m10, m4 * m9 - m5 * m8
        c10, c11, c12 = m9 * m2 - m10 * m1, m10 * m0 - m8 * m2, m8 * m1 - m9 * m0
        c20, c21, c22 = m1 * m6 - m2 * m5, m2 * m4 - m0 * m6, m0 * m5 - m1 * m4
        determinant = m0 * c00 + m1 * c01 + m2 * c02
        square = m0**2 + m1**2 + m2**2 + m4**2 + m5**2 + m6**2
        square += m8**2 + m9**2 + m10**2
        suspect[vertex] = abs(determinant) < DAMPING * square**1.5
        out[vertex, 0] = (c00 * gx + c10 * gy + c20 * gz) / determinant
        out[vertex, 1] = (c01 * gx + c11 * gy + c21 * gz) / determinant
        out[vertex, 2] = (c02 * gx + c12 * gy + c22 * gz) / determinant
    return suspect
