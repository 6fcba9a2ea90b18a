"""Nouns as records: a JSON object and named arrays, and back. What both of the library's own files are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.basis import PackedBasis
from posespace.errors import InputError
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.layer import Basis, Detail, Driver, Interpolant, Layer
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin import Skin
from posespace.spaces import PoseSpace

Arrays = dict[str, NDArray[Any]]
Json = dict[str, Any]


class Reader:
    """Takes checked entries out of a record; whatever is missing or of the wrong type is named in the error."""

    def __init__(self, json: Any, arrays: Mapping[str, NDArray[Any]], where: str) -> None:
        if not isinstance(json, dict):
            raise InputError(f"{where}: expected an object, got {type(json).__name__}")
        self.json, self.arrays, self.where = json, arrays, where

    def array(self, name: str) -> NDArray[Any]:
        """Return the array `name` of this record."""
        found = self.optional(name)
        if found is None:
            raise InputError(f"array {self.where}/{name}: missing")
        return found

    def optional(self, name: str) -> NDArray[Any] | None:
        """Return the array `name` of this record, or None."""
        return self.arrays.get(f"{self.where}/{name}")

    def text(self, name: str) -> str:
        """Return the string `name`."""
        return self._typed(name, str, "a string")  # type: ignore[no-any-return]

    def number(self, name: str) -> int | float:
        """Return the number `name`."""
        found = self._typed(name, int | float, "a number")
        if isinstance(found, bool):
            raise InputError(f"{self.where}.{name}: expected a number, got {found}")
        return found  # type: ignore[no-any-return]

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the list of strings `name`."""
        found = self._typed(name, list, "a list of strings")
        if not all(isinstance(entry, str) for entry in found):
            raise InputError(f"{self.where}.{name}: expected a list of strings")
        return tuple(found)

    def part(self, name: str) -> Reader:
        """Return the record `name` inside this one."""
        return Reader(self._typed(name, dict, "an object"), self.arrays, f"{self.where}/{name}")

    def parts(self, name: str) -> list[Reader]:
        """Return the list of records `name` inside this one."""
        found = self._typed(name, list, "a list")
        return [Reader(entry, self.arrays, f"{self.where}/{name}/{k}") for k, entry in enumerate(found)]

    def _typed(self, name: str, kind: Any, expected: str) -> Any:
        found = self.json.get(name)
        if not isinstance(found, kind):
            raise InputError(f"{self.where}.{name}: expected {expected}, got {type(found).__name__}")
        return found


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
    writer.put(where, parents=bones.parents, frames=bones.frames, rest_rotations=bones.rest_rotations)
    writer.put(where, stretches=bones.stretches, axes=bones.axes, limits=bones.limits)
    return {"joints": list(bones.names), "blending": rig.blending}


def read_rig(record: Reader) -> Rig:
    """Return the rig of a record."""
    mesh = Mesh(record.array("points"), record.array("triangles"), record.optional("face_sizes"))
    skeleton = Skeleton(
        record.texts("joints"),
        record.array("parents"),
        record.array("frames"),
        record.array("rest_rotations"),
        record.optional("stretches"),
        record.optional("axes"),
        record.optional("limits"),
    )
    bind = record.array("inverse_bind")
    return Rig(mesh, skeleton, record.array("influences"), record.array("weights"), bind, record.text("blending"))


def write_motion(motion: Motion, writer: Writer, where: str) -> Json:
    """Return the JSON of a motion; its arrays go to `writer`."""
    writer.put(where, rotations=motion.rotations, translations=motion.translations)
    writer.put(where, times=motion.times, controls=motion.controls)
    return {"names": list(motion.names), "controls": list(motion.control_names)}


def read_motion(record: Reader) -> Motion:
    """Return the motion of a record."""
    return Motion(
        record.array("rotations"),
        record.array("translations"),
        record.array("times"),
        record.texts("names"),
        record.array("controls"),
        record.texts("controls"),
    )


def write_skin(skin: Skin, writer: Writer) -> Json:
    """Return the JSON of a skin; its arrays go to `writer`."""
    json: Json = {
        "rig": write_rig(skin.rig, writer, "skin/rig"),
        "layers": [_write_layer(layer, writer, f"skin/layers/{k}") for k, layer in enumerate(skin.layers)],
        "about": dict(skin.about),
    }
    if skin.detail is not None:
        writer.put("skin/detail", heights=skin.detail.heights)
        driver = _write_driver(skin.detail.driver, writer, "skin/detail/driver")
        json["detail"] = {"levels": skin.detail.levels, "driver": driver}
    return json


def read_skin(record: Reader) -> Skin:
    """Return the skin of a record."""
    about = record.json.get("about", {})
    if not isinstance(about, dict):
        raise InputError("skin.about: expected an object")
    detail = None
    if "detail" in record.json:
        part = record.part("detail")
        detail = Detail(int(part.number("levels")), _read_driver(part.part("driver")), part.array("heights"))
    layers = tuple(_read_layer(part) for part in record.parts("layers"))
    return Skin(read_rig(record.part("rig")), layers, detail, about)


def _write_layer(layer: Layer, writer: Writer, where: str) -> Json:
    writer.put(where, support=layer.support)
    _write_basis(layer.basis, writer, f"{where}/basis")
    if layer.normal_basis is not None:
        _write_basis(layer.normal_basis, writer, f"{where}/normal_basis")
    json: Json = {"name": layer.name, "driver": _write_driver(layer.driver, writer, f"{where}/driver")}
    if layer.normal_driver is not None:
        json["normal_driver"] = _write_driver(layer.normal_driver, writer, f"{where}/normal_driver")
    return json


def _read_layer(record: Reader) -> Layer:
    own = _read_driver(record.part("normal_driver")) if "normal_driver" in record.json else None
    support = record.array("support")
    basis = _read_basis(record, "basis", len(support))
    if basis is None:
        raise InputError(f"array {record.where}/basis: missing")
    normal = _read_basis(record, "normal_basis", len(support))
    return Layer(record.text("name"), _read_driver(record.part("driver")), support, basis, normal, own)


def _write_basis(basis: Basis, writer: Writer, where: str) -> None:
    if isinstance(basis, PackedBasis):
        writer.put(where, starts=basis.starts, rows=basis.rows, values=basis.values, scales=basis.scales)
    else:
        writer.arrays[where] = np.ascontiguousarray(basis)


def _read_basis(record: Reader, name: str, size: int) -> Basis | None:
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
        return json | {"interpolator": "rbf", "kernel": made.kernel, "tail": made.tail}
    writer.put(where, centres=made.centres, values=made.values)
    return json | {"interpolator": "shepard", "power": made.power, "reach": made.reach}


def _read_driver(record: Reader) -> Driver:
    space = PoseSpace(record.text("space"), record.texts("names"))
    kind = record.text("interpolator")
    if kind not in _INTERPOLANTS:
        raise InputError(f"{record.where}.interpolator: expected one of {', '.join(_INTERPOLANTS)}, got {kind!r}")
    return Driver(space, _INTERPOLANTS[kind](record, space.metric))


def _read_rbf(record: Reader, metric: str) -> Interpolant:
    radius, centres, weights = (record.array(name) for name in ("radius", "centres", "weights"))
    return RBFInterpolant(record.text("kernel"), metric, record.text("tail"), radius, centres, weights)


def _read_shepard(record: Reader, metric: str) -> Interpolant:
    power, reach = float(record.number("power")), float(record.number("reach"))
    return ShepardInterpolant(metric, power, reach, record.array("centres"), record.array("values"))


_INTERPOLANTS: dict[str, Callable[[Reader, str], Interpolant]] = {"rbf": _read_rbf, "shepard": _read_shepard}
