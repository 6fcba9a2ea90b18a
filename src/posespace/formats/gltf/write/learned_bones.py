"""Learned bones as a part of `POSESPACE_drivers`, in the file's unit and axes; arrays are accessors of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.formats.gltf.write.buffers import Output, smallest_type
from posespace.formats.gltf.write.conversion import Conversion
from posespace.rig import Rig
from posespace.skin.basis import Basis, PackedBasis
from posespace.skin.bones.stage import StoredBones

Json = dict[str, Any]

_POSITIONS = ("rest", "samples", "centres")
_LENGTHS = ("widths", "heat")
_QUATERNIONS = ("offsets", "coefficients")
_SHARES = ("anchors", "holds")
_WHOLES = ("points", "near", "ties")


def bones_part(
    output: Output, stored: StoredBones, rig: Rig, conversion: Conversion, put: Callable[[Floats], int]
) -> Json:
    """Return the part of bones; empty where a file stores nothing of them but the rig.

    Their influences and weights are those of the meshes.

    Parameters
    ----------
    output : where arrays go
    stored : what is to be stored of the bones
    rig : has the weights of plain skinning by control points
    conversion : to the file's unit and axes
    put : keeps numbers in double precision, and returns where they start
    """
    arrays = {name: array for name, array in stored.arrays.items() if isinstance(array, np.ndarray)}
    json: Json = dict(stored.numbers)
    json |= {name: whole(output, arrays[name]) for name in _WHOLES if name in arrays}
    json |= {name: real(output, conversion.offsets(arrays[name])) for name in _POSITIONS if name in arrays}
    json |= {name: real(output, conversion.scale * arrays[name]) for name in _LENGTHS if name in arrays}
    json |= {name: real(output, conversion.quaternions(arrays[name])) for name in _QUATERNIONS if name in arrays}
    json |= {name: real(output, arrays[name]) for name in _SHARES if name in arrays}
    if "corrections" in stored.arrays:
        json["corrections"] = _corrections(output, stored.arrays["corrections"], conversion)
    if json:
        wide = {name: arrays[name].astype(np.float64) for name in ("rest", "samples", "widths")}
        exact = conversion.offsets(wide["rest"]), conversion.offsets(wide["samples"]), conversion.scale * wide["widths"]
        # Large coefficients that cancel each other multiply the rounding of these.
        json["exact"] = put(np.concatenate([values.ravel() for values in exact]))
        json["plain"] = {"influences": whole(output, rig.influences), "weights": real(output, rig.weights)}
    return json


def real(output: Output, values: Floats) -> int:
    """Add numbers of any shape, in single precision; returns the accessor."""
    return output.add(values.astype(np.float32).ravel())


def whole(output: Output, values: NDArray[np.integer]) -> int:
    """Add whole numbers of at least 0, of any shape; returns the accessor."""
    return output.add(values.astype(smallest_type(int(values.max(initial=0)) + 1)).ravel())


def _corrections(output: Output, basis: Basis, conversion: Conversion) -> Json:
    """The corrections (K, N, 3): lengths, or whole numbers of 16 or 8 bits and the length of one step of each."""
    if not isinstance(basis, PackedBasis) or basis.bits == 32:
        return {"bits": 32, "values": real(output, conversion.offsets(np.asarray(basis)))}
    steps = np.zeros(basis.shape, basis.values.dtype)
    component = np.repeat(np.arange(len(basis.scales)), np.diff(basis.starts))
    steps[component, basis.entry_rows] = conversion.steps(basis.values)
    return {
        "bits": basis.bits,
        "values": output.add(steps.ravel()),
        "scales": real(output, conversion.scale * basis.scales.astype(np.float64)),
    }
