"""The layers of a file's `POSESPACE_drivers`, whose components are morph targets of its meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posespace import check
from posespace.budget import Budget
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.formats import gltf
from posespace.formats.checked_json import Fields, shown
from posespace.formats.gltf.drivers import HELD, Names
from posespace.formats.gltf.extension import EXTENSION
from posespace.formats.gltf.meshes import read_morphs
from posespace.formats.gltf.write.conversion import Conversion
from posespace.skin.basis import Basis, PackedBasis
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer

_STEPS_A_LAYER = 8


@dataclass(frozen=True, eq=False)
class Targets:
    """The morph targets of a file, over all of its meshes.

    Parameters
    ----------
    meanings : by name, what the extension says of each
    of_layers : by the number of a layer, the names of those that are its components
    points, normals : by name, displacements (N, 3) of a weight of 1, in the file's unit and axes
    """

    meanings: Mapping[str, Fields]
    of_layers: Mapping[int, Names]
    points: Mapping[str, Floats]
    normals: Mapping[str, Floats]

    @property
    def size(self) -> int:
        """How many vertices they displace; 0 where there are none."""
        return len(next(iter(self.points.values()))) if self.points else 0

    @property
    def blends(self) -> list[str]:
        """The names of those that are blend shapes of the rig's own file."""
        return [
            name
            for name, meaning in self.meanings.items()
            if "layer" not in meaning and not meaning.flag("offset", False)
        ]


def read_layers(
    opened: gltf.Opened, fields: Fields, targets: Targets, drivers: Sequence[Driver], conversion: Conversion
) -> tuple[Layer, ...]:
    """Return the layers of a file; `conversion` brings its lengths and axes back to the skin's."""
    budget = opened.document.budget
    budget.work(_STEPS_A_LAYER * fields.length("layers"), "layers")
    records = fields.parts("layers", "layer")
    return tuple(_layer(record, k, drivers, targets, conversion, budget) for k, record in enumerate(records))


def read_targets(opened: gltf.Opened) -> Targets:
    """Return the morph targets of a file; those for programs that know no drivers are left out."""
    document, owners = opened.document, opened.owners
    points = read_morphs(document, opened.nodes, owners)
    normals = read_morphs(document, opened.nodes, owners, normals=True)
    meshes = document.root.parts("meshes", "mesh")
    meanings: dict[str, Fields] = {}
    for part in owners:
        extension = meshes[part.number].part("extensions", {}).part(EXTENSION, {})
        listed, names = extension.parts("targets", "target", ()), points.names[part.node]
        if len(listed) != len(names):
            raise InputError(f"{EXTENSION}: targets: expected the {len(names)} of the mesh, got {len(listed)}")
        meanings |= {name: meaning for name, meaning in zip(names, listed, strict=True) if name}
    of_layers: dict[int, list[str]] = {}
    for name, meaning in meanings.items():
        if (layer := meaning.reference("layer", 2**31)) is not None:
            of_layers.setdefault(layer, []).append(name)
    return Targets(meanings, of_layers, points.displacements, normals.displacements)


def _layer(
    fields: Fields, number: int, drivers: Sequence[Driver], targets: Targets, conversion: Conversion, budget: Budget
) -> Layer:
    driver = drivers[fields.integer("driver", below=len(drivers))]
    normal_driver = drivers[fields.integer("normals", below=len(drivers))] if "normals" in fields else None
    corrects = normal_driver is not None or "normalSteps" in fields
    components = driver.components + ((normal_driver or driver).components if corrects else 0)
    budget.hold(2 * HELD * components * targets.size, f"{EXTENSION}: {fields.where}")
    points = _basis(targets, targets.points, number, driver.components, conversion.offsets, normals=False)
    normals = None
    if corrects:
        count = (normal_driver or driver).components
        normals = _basis(
            targets, targets.normals, number, count, conversion.directions, normals=normal_driver is not None
        )
    moved = (points != 0).any(axis=(0, 2))
    if normals is not None:
        moved |= (normals != 0).any(axis=(0, 2))
    support: Ints = np.flatnonzero(moved).astype(np.int32)
    bits = check.bits(fields.integer("bits"))
    basis = _packed(points[:, support], bits, fields.numbers("steps", default=()))
    normal = None if normals is None else _packed(normals[:, support], bits, fields.numbers("normalSteps", default=()))
    return Layer(fields.text("name"), driver, support, basis, normal, normal_driver)


def _basis(targets: Targets, values: Mapping[str, Floats], layer: int, count: int, back: Any, normals: bool) -> Floats:
    """The displacements (C, N, 3) per unit of each coordinate of a layer, in the skin's unit and axes."""
    basis = np.zeros((count, targets.size, 3))
    for name in targets.of_layers.get(layer, ()):
        meaning = targets.meanings[name]
        if meaning.flag("normals", False) == normals:
            scale = meaning.number("scale")
            if scale == 0:
                raise InputError(f"{EXTENSION}: target {shown(name)}: expected a scale other than 0")
            basis[meaning.integer("component", below=count)] = back(values[name].astype(np.float64)) / scale
    return basis


def _packed(dense: Floats, bits: int, steps: Sequence[float]) -> Basis:
    """A basis as it was stored: whole numbers of steps are found again exactly."""
    if bits == 32 or len(steps) != len(dense):
        return PackedBasis.pack(dense, 32)
    scales = np.array(steps, dtype=np.float32)
    kind: type[np.signedinteger[Any]] = np.int8 if bits == 8 else np.int16
    # Where the file has been rounded, the largest may come out a little larger.
    most = np.iinfo(kind).max
    lengths = np.array(steps)[:, None, None]
    whole = np.clip(np.rint(dense / np.where(lengths == 0, 1.0, lengths)), -most, most).astype(kind)
    kept = (whole != 0).any(axis=2)
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    small = np.uint16 if dense.shape[1] <= 2**16 else np.uint32
    return PackedBasis(dense.shape[1], starts, np.nonzero(kept)[1].astype(small), whole[kept], scales)
