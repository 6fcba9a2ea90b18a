"""Rigs, motions and skins as records (a JSON object and named arrays) and back: what the library's own files hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.errors import InputError
from posespace.formats import look_record
from posespace.formats.checked_json import Fields, plain
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.poses.spaces import AXES, PoseSpace
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin.basis import Basis, PackedBasis
from posespace.skin.bones.learned import LearnedBones
from posespace.skin.bones.skeleton import SkeletonBones
from posespace.skin.bones.stage import BoneStage
from posespace.skin.detail import Detail
from posespace.skin.driver import Driver, Interpolant
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

Arrays = dict[str, NDArray[Any]]
Json = dict[str, Any]


class Record(Fields):
    """A JSON object and the named arrays that belong to it.

    Parameters
    ----------
    json : what the JSON holds, of any type
    arrays : those of the whole file; this record's are called `place`/name
    path : of the record in the file, "" for the outermost
    """

    def __init__(self, json: object, arrays: Mapping[str, NDArray[Any]], path: str = "") -> None:
        super().__init__(json, path or "the file")
        self.arrays, self.path = arrays, path

    def array(self, name: str) -> NDArray[Any]:
        """Return the array `name` of this record."""
        values = self.optional(name)
        if values is None:
            raise InputError(f"array {self._inside(name)} is missing")
        return values

    def optional(self, name: str) -> NDArray[Any] | None:
        """Return the array `name` of this record, or None; every array of a record has axes."""
        values = self.arrays.get(self._inside(name))
        if values is not None and not values.ndim:
            raise InputError(f"array {self._inside(name)}: expected an array with axes, got one number")
        return values

    def record(self, name: str) -> Record:
        """Return the record `name` inside this one."""
        return Record(self.part(name).values, self.arrays, self._inside(name))

    def records(self, name: str) -> list[Record]:
        """Return the list of records `name` inside this one."""
        entries = self.parts(name, self._inside(name))
        return [Record(entry.values, self.arrays, f"{self._inside(name)}/{k}") for k, entry in enumerate(entries)]

    def require(self, kind: str, version: int) -> None:
        """Raise unless this is the outermost record of a file of that kind and version."""
        got = self.text("kind"), self.integer("version")
        if got != (kind, version):
            raise InputError(f"expected {kind} of version {version}, got {got[0][:40]!r} of version {got[1]}")

    def _inside(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name


class Writer:
    """Collects the arrays of a record under its place."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def put(self, where: str, **arrays: NDArray[Any] | None) -> None:
        """Keep arrays by name under `where`; None is left out."""
        for name, array in arrays.items():
            if array is not None:
                self.arrays[f"{where}/{name}"] = np.ascontiguousarray(array)


def write_rig(rig: Rig, writer: Writer, where: str) -> Json:
    """Return the JSON of a rig; its arrays go to `writer`."""
    mesh, bones = rig.mesh, rig.skeleton
    writer.put(where, points=mesh.points, triangles=mesh.triangles, face_sizes=mesh.face_sizes)
    writer.put(where, influences=rig.influences, weights=rig.weights, inverse_bind=rig.inverse_bind)
    writer.put(where, parents=bones.parents, frames=bones.local_frames, rest_rotations=bones.rest_rotations)
    writer.put(where, stretches=bones.stretches, axes=bones.axes, limits=bones.limits, links=bones.links)
    json: Json = {"joints": list(bones.names), "blending": rig.blending}
    if mesh.unit != 1:
        json["unit"] = mesh.unit
    if mesh.look is not None:
        json["look"] = look_record.write(mesh.look, partial(writer.put, where))
    return json


def read_rig(record: Record) -> Rig:
    """Return the rig of a record."""
    unit = record.number("unit") if "unit" in record else 1.0
    look = look_record.read(record.part("look"), record.array) if "look" in record else None
    mesh = Mesh(record.array("points"), record.array("triangles"), record.optional("face_sizes"), look, unit)
    skeleton = Skeleton(
        tuple(record.texts("joints")),
        record.array("parents"),
        record.array("frames"),
        record.array("rest_rotations"),
        record.optional("stretches"),
        record.optional("axes"),
        record.optional("limits"),
        record.optional("links"),
    )
    bind = record.array("inverse_bind")
    return Rig(mesh, skeleton, record.array("influences"), record.array("weights"), bind, record.text("blending"))


def write_motion(motion: Motion, writer: Writer, where: str) -> Json:
    """Return the JSON of a motion; its arrays go to `writer`."""
    writer.put(where, rotations=motion.rotations, translations=motion.translations)
    writer.put(where, times=motion.times, controls=motion.controls)
    return {"names": list(motion.names), "controls": list(motion.control_names)}


def read_motion(record: Record) -> Motion:
    """Return the motion of a record."""
    return Motion(
        record.array("rotations"),
        record.array("translations"),
        record.array("times"),
        tuple(record.texts("names")),
        record.array("controls"),
        tuple(record.texts("controls")),
    )


def write_skin(skin: Skin, writer: Writer) -> Json:
    """Return the JSON of a skin; its arrays go to `writer`."""
    json: Json = {
        "rig": write_rig(skin.rig, writer, "skin/rig"),
        "layers": [_write_layer(layer, writer, f"skin/layers/{k}") for k, layer in enumerate(skin.layers)],
        "about": dict(skin.about),
    }
    if bones := _write_bones(skin.bones, writer, "skin/bones"):
        json["bones"] = bones
    if skin.detail is not None:
        writer.put("skin/detail", heights=skin.detail.heights, scales=skin.detail.scales)
        json["detail"] = {"levels": skin.detail.levels}
        if skin.detail.driver is not None:
            json["detail"]["driver"] = _write_driver(skin.detail.driver, writer, "skin/detail/driver")
    return json


def read_skin(record: Record) -> Skin:
    """Return the skin of a record."""
    about = record.part("about", {})
    provenance = Fields(plain(about.values, about.where), about.where).values
    detail = None
    if "detail" in record:
        part = record.record("detail")
        driver = _read_driver(part.record("driver")) if "driver" in part else None
        scales = part.optional("scales")
        detail = Detail(part.integer("levels"), driver, part.array("heights"), scales)
    layers = tuple(_read_layer(layer) for layer in record.records("layers"))
    bones = _read_bones(record.record("bones")) if "bones" in record else SkeletonBones()
    return Skin(read_rig(record.record("rig")), layers, detail, provenance, bones)


_NOT_ALWAYS = ("holds", "ties", "corrections")
_BONES = tuple(field.name for field in fields(LearnedBones) if field.name not in ("blended", "beta", *_NOT_ALWAYS))
"""The arrays that all learned bones have."""


def _write_bones(bones: BoneStage, writer: Writer, where: str) -> Json:
    """The numbers of bones; their arrays go to `writer`. A skeleton's have neither."""
    stored = bones.stored()
    for name, array in stored.arrays.items():
        _write_basis(array, writer, f"{where}/{name}")
    return dict(stored.numbers)


def _read_bones(record: Record) -> BoneStage:
    arrays: dict[str, Any] = {name: record.array(name) for name in _BONES}
    arrays |= {name: record.optional(name) for name in ("holds", "ties")}
    arrays["corrections"] = _read_basis(record, "corrections", len(arrays["weights"]))
    return LearnedBones(**arrays, blended=record.integer("blended"), beta=record.number("beta"))


def _write_layer(layer: Layer, writer: Writer, where: str) -> Json:
    writer.put(where, support=layer.support)
    _write_basis(layer.basis, writer, f"{where}/basis")
    if layer.normal_basis is not None:
        _write_basis(layer.normal_basis, writer, f"{where}/normal_basis")
    json: Json = {"name": layer.name, "driver": _write_driver(layer.driver, writer, f"{where}/driver")}
    if layer.normal_driver is not None:
        json["normal_driver"] = _write_driver(layer.normal_driver, writer, f"{where}/normal_driver")
    return json


def _read_layer(record: Record) -> Layer:
    normal_driver = _read_driver(record.record("normal_driver")) if "normal_driver" in record else None
    support = record.array("support")
    basis = _read_basis(record, "basis", len(support))
    if basis is None:
        raise InputError(f"array {record.path}/basis is missing")
    normal = _read_basis(record, "normal_basis", len(support))
    return Layer(record.text("name"), _read_driver(record.record("driver")), support, basis, normal, normal_driver)


def _write_basis(basis: Basis, writer: Writer, where: str) -> None:
    if isinstance(basis, PackedBasis):
        writer.put(where, starts=basis.starts, rows=basis.rows, values=basis.values, scales=basis.scales)
    else:
        writer.arrays[where] = np.ascontiguousarray(basis)


def _read_basis(record: Record, name: str, size: int) -> Basis | None:
    """A basis in full is one array; a packed one has four under its name."""
    if record.optional(f"{name}/starts") is None:
        return record.optional(name)
    starts, rows, values, scales = (record.array(f"{name}/{k}") for k in ("starts", "rows", "values", "scales"))
    return PackedBasis(size, starts, rows, values, scales)


def _write_driver(driver: Driver, writer: Writer, where: str) -> Json:
    made = driver.interpolant
    json: Json = {"space": driver.space.kind, "names": list(driver.space.names)}
    if isinstance(made, RBFInterpolant):
        writer.put(where, radius=made.radius, centres=made.centres, weights=made.weights)
        if made.span is not None:
            writer.put(where, span=made.span)
        reach = {} if made.reach == math.inf else {"reach": made.reach}
        return json | {"interpolator": "rbf", "kernel": made.kernel, "tail": made.tail} | reach
    writer.put(where, centres=made.centres, values=made.values)
    return json | {"interpolator": "shepard", "power": made.power, "reach": made.reach}


def _read_driver(record: Record) -> Driver:
    space = _read_space(record)
    kind = record.text("interpolator")
    if kind not in _INTERPOLANTS:
        raise InputError(f"{record.where}: interpolator: expected one of {', '.join(_INTERPOLANTS)}, got {kind[:40]!r}")
    return Driver(space, _INTERPOLANTS[kind](record, space.metric))


def _read_space(record: Record) -> PoseSpace:
    kind, names = record.text("space"), tuple(record.texts("names"))
    if kind == "points":
        # Older files name the three controls of a point by the point.
        kind, names = "controls", tuple(f"{name}.{axis}" for name in names for axis in AXES)
    return PoseSpace(kind, names)


def _read_rbf(record: Record, metric: str) -> Interpolant:
    radius, centres, weights = (record.array(name) for name in ("radius", "centres", "weights"))
    reach = record.number("reach") if "reach" in record else math.inf
    kernel, tail, span = record.text("kernel"), record.text("tail"), record.optional("span")
    return RBFInterpolant(kernel, metric, tail, radius, centres, weights, reach, span)


def _read_shepard(record: Record, metric: str) -> Interpolant:
    power, reach = record.number("power"), record.number("reach")
    return ShepardInterpolant(metric, power, reach, record.array("centres"), record.array("values"))


_INTERPOLANTS: dict[str, Callable[[Record, str], Interpolant]] = {"rbf": _read_rbf, "shepard": _read_shepard}
