"""A skin read back from a glTF file that carries `POSESPACE_drivers`: its rig, its targets and its drivers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace import check
from posespace.budget import Budget
from posespace.check import Floats, Ints
from posespace.errors import FileError, InputError
from posespace.formats import files, gltf
from posespace.formats.checked_json import Fields, plain, shown
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.extension import EXTENSION, VERSION
from posespace.formats.gltf.meshes import read_morphs
from posespace.formats.gltf.write.conversion import UPS, Conversion
from posespace.formats.joining import keep_morphs
from posespace.interpolate.distances import Array
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.interpolate.kernels import KERNELS, TAILS
from posespace.poses.spaces import AXES, KINDS, TRANSLATIONS, PoseSpace
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin.basis import Basis, PackedBasis
from posespace.skin.driver import Driver, Interpolant
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

Names = Sequence[str]

_STEPS_A_DRIVER, _STEPS_A_LAYER = 2, 8
_HELD = 4
"""A number of a driver costs as much as this many of a file: it is a 64-bit one, and players copy it."""


@dataclass(frozen=True, eq=False)
class _Targets:
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


def is_skin(path: Path) -> bool:
    """Whether a glTF file carries a skin."""
    with files.naming(path):
        return EXTENSION in Document(path).root.part("extensions", {})


def read(path: Path) -> Skin:
    """Return the skin that a glTF file carries; raises where it carries none."""
    with files.naming(path), np.errstate(over="ignore", invalid="ignore"):
        opened = gltf.Opened.of(path)
        document = opened.document
        extensions = document.root.part("extensions", {})
        if EXTENSION not in extensions or not opened.bindings:
            raise FileError(path, "holds a rig but no skin; a skin's file ends in .skin, or was exported from one")
        fields = extensions.part(EXTENSION)
        if fields.integer("version") != VERSION:
            raise InputError(f"{EXTENSION}: expected version {VERSION}, got {fields.integer('version')}")
        numbers = _numbers(document, fields)
        conversion = _conversion(fields)
        rig = _rig(opened.rig(opened.bindings[0]), fields, conversion)
        controls = fields.texts("controls")
        pool = _Pool(numbers, document.budget)
        drivers = [_driver(record, pool, rig.skeleton, controls) for record in fields.parts("drivers", "driver")]
        targets = _targets(opened)
        document.budget.work(_STEPS_A_LAYER * fields.length("layers"), "layers")
        layers = [
            _layer(record, k, drivers, targets, conversion, document.budget)
            for k, record in enumerate(fields.parts("layers", "layer"))
        ]
        rigs = [rig]
        keep_morphs(rigs, [], {name: conversion.offsets(targets.points[name]) for name in targets.blends})
        about = Fields(plain(fields.part("about", {}).values, f"{EXTENSION}: about"), "about")
        return Skin(rigs[0], tuple(layers), about=about.values)


def _numbers(document: Document, fields: Fields) -> Array:
    content = bytes(document.bytes_of(Fields({"bufferView": fields.integer("numbers")}, EXTENSION)))
    if len(content) % 8:
        raise InputError(f"{EXTENSION}: numbers: expected 8 bytes each, got {len(content)} bytes")
    return np.frombuffer(content, "<f8").astype(np.float64)


def _conversion(fields: Fields) -> Conversion:
    """What brings the file's lengths and axes back to the skin's."""
    unit, up = fields.number("unit"), fields.text("up")
    if not unit > 0 or up not in UPS:
        raise InputError(f"{EXTENSION}: expected a unit above 0 and one of {', '.join(UPS)} up, got {unit} and {up!r}")
    return Conversion(1.0 / unit, UPS[up].T)


def _rig(file_rig: Rig, fields: Fields, conversion: Conversion) -> Rig:
    joints = fields.parts("joints", "joint")
    if len(joints) != len(file_rig.skeleton):
        raise InputError(f"{EXTENSION}: joints: expected {len(file_rig.skeleton)}, got {len(joints)}")
    rig = conversion.rig(file_rig)
    arrays: dict[str, Any] = {}
    if all("axes" in joint for joint in joints):
        arrays["axes"] = np.array([joint.numbers("axes", 9) for joint in joints]).reshape(-1, 3, 3)
    # The nodes' extras have them with names; only files from before these have them here alone.
    if rig.skeleton.limits is None and all("limits" in joint for joint in joints):
        arrays["limits"] = np.array([joint.numbers("limits", 6) for joint in joints]).reshape(-1, 3, 2)
    listed = [joint.reference("link", len(joints)) for joint in joints]
    links = np.array([-1 if link is None else link for link in listed], dtype=np.int32)
    if not np.array_equal(links, rig.skeleton.parents):
        arrays["links"] = links
    mesh = replace(rig.mesh, look=file_rig.mesh.look, unit=1.0 / conversion.scale)
    return replace(rig, mesh=mesh, skeleton=replace(rig.skeleton, **arrays), blending=fields.text("blending"))


class _Pool:
    """The numbers of all drivers. Drivers may share them, so what each takes counts."""

    def __init__(self, numbers: Array, budget: Budget) -> None:
        self._numbers, self._budget = numbers, budget

    def slice(self, fields: Fields, start: int, shape: tuple[int, ...]) -> Array:
        """Return the numbers from `start` on, in a shape."""
        end = start + math.prod(shape)
        if end > len(self._numbers):
            raise InputError(f"{fields.where}: expected numbers up to {len(self._numbers)}, got some up to {end}")
        self._budget.hold(_HELD * math.prod(shape), f"{EXTENSION}: {fields.where}")
        return self._numbers[start:end].reshape(shape)

    def begin(self) -> None:
        """Count one more driver."""
        self._budget.work(_STEPS_A_DRIVER, "drivers")


def _driver(fields: Fields, pool: _Pool, skeleton: Skeleton, controls: Names) -> Driver:
    pool.begin()
    kind = check.choice(f"{fields.where}: kind", fields.text("kind"), KINDS)
    space = PoseSpace(kind, _names(fields, kind, skeleton, controls))
    first, samples = _pair(fields, "centres")
    start, columns = _pair(fields, "weights")
    centres = pool.slice(fields, first, (samples, space.dimensions))
    kernel = check.choice(f"{fields.where}: kernel", fields.text("kernel"), (*KERNELS, "shepard"))
    if kernel == "shepard":
        values = pool.slice(fields, start, (samples, columns))
        power, reach = fields.number("power"), fields.number("reach")
        return Driver(space, ShepardInterpolant(space.metric, power, reach, centres, values))
    tail = check.choice(f"{fields.where}: tail", fields.text("tail"), TAILS)
    rows = samples + {"none": 0, "constant": 1, "linear": 1 + space.dimensions}[tail]
    weights = pool.slice(fields, start, (rows, columns))
    axes = len(space.names) if kind == "joint" else space.dimensions
    radius = pool.slice(fields, fields.integer("radius"), (axes,))
    reach = fields.number("reach") if "reach" in fields else math.inf
    span = None
    if "span" in fields:
        span_start, directions = _pair(fields, "span")
        span = pool.slice(fields, span_start, (directions, 3 * axes if kind == "joint" else axes))
    made: Interpolant = RBFInterpolant(kernel, space.metric, tail, radius, centres, weights, reach, span)
    return Driver(space, made)


def _names(fields: Fields, kind: str, skeleton: Skeleton, controls: Names) -> tuple[str, ...]:
    """The names of a space's joints, degrees of freedom, controls or points."""
    if kind in ("joint", "quaternions"):
        return tuple(skeleton.names[joint] for joint in fields.integers("inputs", len(skeleton)))
    if kind == "freedoms":
        return tuple(_freedom(fields, joint, axis, skeleton, controls) for joint, axis in _inputs(fields, 2))
    if kind == "controls":
        return tuple(controls[control] for control in fields.integers("inputs", len(controls)))
    return tuple(_point(fields, [controls[k] for k in three]) for three in _inputs(fields, 3, len(controls)))


def _inputs(fields: Fields, width: int, below: int = 2**31) -> list[tuple[int, ...]]:
    """The inputs of a driver, so many together."""
    numbers = fields.integers("inputs", below, least=-1 if width == 2 else 0)
    if len(numbers) % width:
        raise InputError(f"{fields.where}: inputs: expected {width} numbers for each, got {len(numbers)} in all")
    return list(zip(*(numbers[k::width] for k in range(width)), strict=True))


def _freedom(fields: Fields, joint: int, axis: int, skeleton: Skeleton, controls: Names) -> str:
    """The name of a joint's degree of freedom, or of a control, whose joint is -1."""
    endings = controls if joint < 0 else AXES + TRANSLATIONS
    if joint >= len(skeleton) or not 0 <= axis < len(endings):
        raise InputError(
            f"{fields.where}: inputs: expected a joint and its axis, or -1 and a control, got {joint}, {axis}"
        )
    return endings[axis] if joint < 0 else f"{skeleton.names[joint]}.{endings[axis]}"


def _point(fields: Fields, controls: Names) -> str:
    """The name of a control point by its three controls."""
    name = controls[0].removesuffix(".x")
    if list(controls) != [f"{name}.{axis}" for axis in AXES]:
        got = ", ".join(map(shown, controls))
        raise InputError(f"{fields.where}: inputs: expected the controls .x, .y and .z of one point, got {got}")
    return name


def _pair(fields: Fields, key: str) -> tuple[int, int]:
    numbers = fields.integers(key, 2**53)
    if len(numbers) != 2:
        raise InputError(f"{fields.where}: {key}: expected where they start and how many, got {len(numbers)} numbers")
    return numbers[0], numbers[1]


def _targets(opened: gltf.Opened) -> _Targets:
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
        meanings |= dict(zip(names, listed, strict=True))
    of_layers: dict[int, list[str]] = {}
    for name, meaning in meanings.items():
        if (layer := meaning.reference("layer", 2**31)) is not None:
            of_layers.setdefault(layer, []).append(name)
    return _Targets(meanings, of_layers, points.displacements, normals.displacements)


def _layer(
    fields: Fields, number: int, drivers: Sequence[Driver], targets: _Targets, conversion: Conversion, budget: Budget
) -> Layer:
    driver = drivers[fields.integer("driver", below=len(drivers))]
    normal_driver = drivers[fields.integer("normals", below=len(drivers))] if "normals" in fields else None
    corrects = normal_driver is not None or "normalSteps" in fields
    components = driver.components + ((normal_driver or driver).components if corrects else 0)
    budget.hold(2 * _HELD * components * targets.size, f"{EXTENSION}: {fields.where}")
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


def _basis(targets: _Targets, values: Mapping[str, Floats], layer: int, count: int, back: Any, normals: bool) -> Floats:
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
