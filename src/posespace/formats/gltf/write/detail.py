"""The detail of a skin as a part of `POSESPACE_drivers`: heights over the subdivided surface, in the file's unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posespace.formats.gltf.write.buffers import Output
from posespace.formats.gltf.write.conversion import Conversion
from posespace.formats.gltf.write.learned_bones import real
from posespace.skin.detail import Detail

Json = dict[str, Any]


def detail_part(output: Output, detail: Detail, drivers: Mapping[int, int], conversion: Conversion) -> Json:
    """Return the part of the detail; `drivers` has the number of each driver by its identity."""
    json: Json = {"levels": detail.levels}
    if detail.driver is not None:
        json["driver"] = drivers[id(detail.driver)]
    if detail.scales is None:
        return json | {"bits": 32, "heights": real(output, conversion.scale * detail.heights)}
    return json | {
        "bits": 8 * detail.heights.dtype.itemsize,
        "heights": output.add(np.ascontiguousarray(detail.heights).ravel()),
        "scales": real(output, conversion.scale * detail.scales.astype(np.float64)),
    }
