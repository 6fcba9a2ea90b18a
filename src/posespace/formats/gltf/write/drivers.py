"""`POSESPACE_drivers`: how a pose becomes a shape, for players that drive skins themselves.

The file's part has joints, drivers, layers, learned bones and detail; each mesh's part says what its targets are. All
numbers of the drivers are 64-bit floats in one buffer view: single precision would spoil wide kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.formats.gltf.extension import BONES_AND_DETAIL, JOINTS_ONLY
from posespace.formats.gltf.grid import Grid
from posespace.formats.gltf.write.buffers import Output
from posespace.formats.gltf.write.conversion import Conversion
from posespace.formats.gltf.write.detail import detail_part
from posespace.formats.gltf.write.joints import JointNodes
from posespace.formats.gltf.write.learned_bones import bones_part
from posespace.formats.gltf.write.morph_targets import Target
from posespace.interpolate.fitted import RBFInterpolant
from posespace.poses.parts import parts_of
from posespace.skeleton import Skeleton
from posespace.skin.basis import Basis, PackedBasis
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

Json = dict[str, Any]


class _Numbers:
    """Collects numbers, which are found again by where they start."""

    def __init__(self) -> None:
        # A buffer view is never empty.
        self._parts: list[Floats] = [np.zeros(1)]
        self._count = 1

    def put(self, values: Floats) -> int:
        """Keep numbers; return where they start."""
        start = self._count
        self._parts.append(np.asarray(values, dtype=np.float64).ravel())
        self._count += self._parts[-1].size
        return start

    def content(self) -> Floats:
        """Return all of them."""
        return np.concatenate(self._parts)


def file_drivers(
    output: Output, skin: Skin, nodes: JointNodes, conversion: Conversion, up: str, grid: Grid | None = None
) -> Json:
    """Return the file's part of the extension; `grid` is where the positions of its meshes are whole numbers."""
    numbers = _Numbers()
    number = {id(driver): k for k, driver in enumerate(skin.drivers)}
    json: Json = {
        "version": BONES_AND_DETAIL if has_more_than_joints(skin) else JOINTS_ONLY,
        "unit": conversion.scale,
        "up": up,
        "blending": skin.rig.blending,
        "joints": _joints(skin.rig.skeleton, nodes, conversion),
        "controls": list(skin.control_names),
        "drivers": [_driver(driver, skin, numbers) for driver in skin.drivers],
        "layers": [_layer(layer, number) for layer in skin.layers],
        "about": dict(skin.about),
    }
    json |= {} if grid is None else {"grid": [*grid.centre.tolist(), grid.size]}
    if has_more_than_joints(skin):
        json["vertices"] = len(skin.rig.mesh.points)
    if bones := bones_part(output, skin.bones.stored(), skin.rig, conversion, numbers.put):
        json["bones"] = bones
    if skin.detail is not None:
        json["detail"] = detail_part(output, skin.detail, number, conversion)
    return json | {"numbers": output.add_numbers(numbers.content())}


def has_more_than_joints(skin: Skin) -> bool:
    """Whether version 1 of the extension cannot hold a skin."""
    return bool(skin.bones.stored().arrays) or skin.detail is not None


def mesh_drivers(targets: Sequence[Target]) -> Json:
    """Return a mesh's part of the extension: what each of its targets is."""
    return {"targets": [_target(target) for target in targets]}


def _target(target: Target) -> Json:
    if target.is_fallback:
        return {"fallback": True}
    if target.layer < 0:
        return {"offset": True} if target.is_offset else {}
    entry: Json = {"layer": target.layer, "component": target.component, "low": target.low, "scale": target.scale}
    return entry | ({"normals": True} if target.of_normals else {})


def _joints(skeleton: Skeleton, nodes: JointNodes, conversion: Conversion) -> list[Json]:
    parts, entries = parts_of(skeleton), []
    for joint, node in enumerate(nodes.joints[: len(skeleton)]):
        link = int(parts.links[joint])
        is_linked_to_parent = link >= 0 and link == int(skeleton.parents[joint])
        origin = nodes.origins[joint] if is_linked_to_parent else conversion.scale * parts.offsets[joint]
        entry: Json = {"node": node, "own": is_linked_to_parent} | ({"link": link} if link >= 0 else {})
        entry |= {"rest": parts.rest[joint].tolist(), "origin": np.asarray(origin, dtype=np.float64).tolist()}
        if skeleton.axes is not None:
            entry["axes"] = skeleton.axes[joint].astype(np.float64).ravel().tolist()
        entries.append(entry if skeleton.limits is None else entry | driver_limits(skeleton.limits[joint]))
    return entries


def driver_limits(limits: Floats) -> Json:
    """Return what drivers say to players of a joint's limits (3, 2) in radians: nothing where it has none.

    An axis without limits is given half a rotation to either side, which no joint goes beyond.
    """
    if not np.isfinite(limits).any():
        return {}
    return {"limits": np.clip(limits.astype(np.float64), -np.pi, np.pi).ravel().tolist()}


def _driver(driver: Driver, skin: Skin, numbers: _Numbers) -> Json:
    made = driver.interpolant
    json: Json = {"kind": driver.space.kind, "inputs": _inputs(driver, skin)}
    json["centres"] = [numbers.put(made.centres), len(made.centres)]
    if isinstance(made, RBFInterpolant):
        json |= {"kernel": made.kernel, "tail": made.tail, "radius": numbers.put(made.radius)}
        json |= {} if made.reach == math.inf else {"reach": made.reach}
        json |= {} if made.span is None else {"span": [numbers.put(made.span), len(made.span)]}
        json["weights"] = [numbers.put(made.weights), made.columns]
    else:
        json |= {"kernel": "shepard", "power": made.power, "reach": made.reach}
        json["weights"] = [numbers.put(made.values), made.columns]
    return json


def _inputs(driver: Driver, skin: Skin) -> list[int]:
    """What spans the space of a driver: joints, pairs of joint (-1: a control) and axis, or controls."""
    space, skeleton = driver.space, skin.rig.skeleton
    control = {name: k for k, name in enumerate(skin.control_names)}
    if space.kind in ("joint", "quaternions"):
        return list(space.joints(skeleton))
    if space.kind != "freedoms":
        return [control[name] for name in space.names]
    numbers: list[int] = []
    for name in space.names:
        degree = space.degree_of(name, skeleton)
        numbers += (-1, control[name]) if degree is None else degree
    return numbers


def _layer(layer: Layer, number: dict[int, int]) -> Json:
    json: Json = {"name": layer.name, "driver": number[id(layer.driver)], **_steps(layer.basis, "steps")}
    if layer.normal_basis is not None:
        json |= {"normalSteps": _steps(layer.normal_basis, "steps").get("steps", [])}
    if layer.normal_driver is not None:
        json["normals"] = number[id(layer.normal_driver)]
    return json


def _steps(basis: Basis, name: str) -> Json:
    """How a basis is stored, and the length of one step of each component where its numbers are whole."""
    if not isinstance(basis, PackedBasis) or basis.bits == 32:
        return {"bits": 32}
    return {"bits": basis.bits, name: basis.scales.astype(np.float64).tolist()}
