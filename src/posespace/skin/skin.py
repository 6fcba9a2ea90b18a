"""Skin: the result of every fit, with its three stages: drive, skin and detail.

This is the reference evaluator: plain NumPy, one pose at a time. The fast ones are in `runtime/`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import FileError, InputError, suggestion
from posespace.geometry import skinning
from posespace.geometry.subdivision import Subdivision, fine_vertex_count, levels_of
from posespace.late import late
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose, require_pose
from posespace.poses.parts import parts_of
from posespace.rig import BLENDINGS, Rig
from posespace.skin.basis import Basis, combined
from posespace.skin.bones.skeleton import SkeletonBones
from posespace.skin.bones.stage import Binding, BoneStage, Posed
from posespace.skin.bound import Bound, Neighbourhoods
from posespace.skin.detail import Detail
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer

if TYPE_CHECKING:
    from posespace.runtime.player import Player

_BLOCK = 64
"""Most poses that are driven at once."""

_OF_LAYERS = ("drivers", "bounds")
"""What is computed once of a skin, and depends on its rig and layers alone."""


class Driven(NamedTuple):
    """What the first stage makes of a pose: all that the stages after it need.

    Parameters
    ----------
    transforms : (B, 3, 4) of the bones, rest to posed space
    coordinates : of each layer's points, (C,) each
    amounts : (B, K + D) of corrections and of detail that each bone adds; (B, 0) for the joints of a skeleton
    normal_coordinates : of each layer's normals, (C,) each
    detail_coordinates : (C,) of the detail; (0,) where the skin has none, or the bones drive it
    """

    transforms: Floats
    coordinates: list[Floats]
    amounts: Floats
    normal_coordinates: list[Floats]
    detail_coordinates: Floats


@dataclass(frozen=True, eq=False)
class Skin:
    """A rig with the corrections that a fit learned.

    Parameters
    ----------
    rig : the rest shape, its skeleton and weights
    layers : displacements added before the bones
    detail : a height map added after the bones, or None
    about : how it was made: method, settings, figures of the fit; any JSON. See `posespace.skin.provenance`
    bones : from a pose to bone transforms: the skeleton's joints, or learned bones where the joints are control points
    """

    rig: Rig
    layers: tuple[Layer, ...] = ()
    detail: Detail | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    bones: BoneStage = field(default_factory=SkeletonBones)

    def __post_init__(self) -> None:
        check.kind("rig", self.rig, Rig)
        count = len(self.rig.mesh.points)
        check.kind("bones", self.bones, BoneStage)
        self.bones.require_fit(self.rig)
        object.__setattr__(self, "layers", tuple(self.layers))
        for layer in self.layers:
            if len(layer.support) and layer.support[-1] >= count:
                raise InputError(f"layer {layer.name!r}: expected vertices below {count}, got {layer.support[-1]}")
        for driver in self.drivers:
            driver.space.joints(self.rig.skeleton)
        if self.detail is not None:
            fine = fine_vertex_count(self.rig.mesh.triangles, count, self.detail.levels)
            if fine != self.detail.heights.shape[1]:
                raise InputError(f"detail heights: expected {fine} vertices, got {self.detail.heights.shape[1]}")
            if self.detail.driver is None and self.bones.detail_count != len(self.detail.heights):
                raise InputError(
                    f"detail: expected a driver, or bones that give {len(self.detail.heights)} amounts of it"
                )

    def __repr__(self) -> str:
        points = f", {len(self.bones.points)} control points" if len(self.bones.points) else ""
        return f"Skin({self.rig}, {len(self.layers)} layers{points}{', detail' if self.detail else ''})"

    @cached_property
    def drivers(self) -> tuple[Driver, ...]:
        """Every driver once, in the order of the layers: of their points, of their normals, then of the detail."""
        drivers = [driver for layer in self.layers for driver in (layer.driver, layer.normal_driver)]
        drivers += [self.detail.driver] if self.detail is not None else []
        return tuple({id(driver): driver for driver in drivers if driver is not None}.values())

    @cached_property
    def bounds(self) -> dict[int, Bound]:
        """The bound on the coordinates of each driver, by its identity."""
        neighbourhoods = Neighbourhoods(self.rig.mesh)
        bases: dict[int, list[tuple[Ints, Basis]]] = {id(driver): [] for driver in self.drivers}
        for layer in self.layers:
            bases[id(layer.driver)].append((layer.support, layer.basis))
            if layer.normal_driver is not None and layer.normal_basis is not None:
                bases[id(layer.normal_driver)].append((layer.support, layer.normal_basis))
        return {id(driver): Bound.of(driver, bases[id(driver)], neighbourhoods) for driver in self.drivers}

    def described(self, about: Mapping[str, Any]) -> Skin:
        """Return the skin with another `about`; what was computed of it stays."""
        skin = replace(self, about=about)
        skin.__dict__.update({name: self.__dict__[name] for name in _OF_LAYERS if name in self.__dict__})
        return skin

    @cached_property
    def _levels(self) -> tuple[Subdivision, ...]:
        return levels_of(self.rig.mesh.triangles, len(self.rig.mesh.points), self.detail.levels if self.detail else 0)

    @cached_property
    def mesh(self) -> Mesh:
        """The rest surface that posed points belong to: the rig's, subdivided where there is detail."""
        if not self._levels:
            return self.rig.mesh
        points = self.rig.mesh.points
        for level in self._levels:
            points = level.refine(points)
        return Mesh(points, self._levels[-1].triangles)

    @cached_property
    def control_names(self) -> tuple[str, ...]:
        """The scalar controls, besides the joints, that drive the skin."""
        names = [name for driver in self.drivers for name in driver.space.controls(self.rig.skeleton)]
        return tuple(dict.fromkeys(names))

    def unknown_controls(self, controls: Mapping[str, float]) -> list[str]:
        """Return a line for each of a pose's `controls` that is not at zero and moves nothing in this skin."""
        if not self.control_names:
            return []
        return [
            f"control {name!r} moves nothing in this skin{suggestion(name, self.control_names)}"
            for name, value in controls.items()
            if value and name not in self.control_names
        ]

    @property
    def points(self) -> Ints:
        """(M,) int32, the vertices that control points are on; (0,) where joints make the pose."""
        return self.bones.points

    @property
    def binding(self) -> Binding:
        """The bones (N, K) that move each vertex, their weights (N, K), and how many bones there are."""
        return self.bones.binding(self.rig)

    def drive(self, pose: Pose) -> Driven:
        """Return the bone transforms (B, 3, 4), each layer's coordinates (C,), and what else the later stages need."""
        return self._driven(pose, self._by_driver(pose))

    def transforms(self, pose: Pose) -> Floats:
        """Return the bone transforms (B, 3, 4) of a pose: rest to posed space."""
        return self.bones.drive(pose, self.rig)[0]

    def aligned(self, pose: Posed) -> tuple[Posed, Floats, Floats]:
        """Return a pose, or a motion, without the rigid motion of the whole, and that motion: (..., 3, 3), (..., 3).

        Control points are aligned to their rest positions. A skeleton's pose is returned unchanged.
        """
        return self.bones.aligned(pose, self.rig)

    def corrections(self, amounts: Floats) -> Floats:
        """Return the displacements (N, 3) by bones with amounts (B, K + D), within their limits."""
        vertex_amounts = self.binding.per_vertex(amounts[:, : self.bones.correction_count])
        return self.bones.corrections_of(self.rig).at(vertex_amounts)

    def displacements(self, pose: Pose) -> Floats:
        """Return the sum of all layers' displacements (N, 3) in the rest shape."""
        driven = self._by_driver(pose)
        return self._displaced([driven[id(layer.driver)] for layer in self.layers])

    def normal_displacements(self, pose: Pose) -> Floats:
        """Return the sum of all layers' corrections (N, 3) of the rest normals."""
        driven = self._by_driver(pose)
        return self._displaced_normals([driven[id(layer.normal_driver or layer.driver)] for layer in self.layers])

    def coordinates(self, driver: Driver, pose: Pose | Motion, parts: tuple[Floats, Floats] | None = None) -> Floats:
        """Return the coordinates (C,) of a pose, or (P, C) of a motion, that one of `drivers` gives, within its bound.

        The `parts` of the pose may be given: see `Parts.of`.
        """
        return self.bounds[id(driver)].kept(driver.coordinates(pose, self.rig.skeleton, parts))

    def _by_driver(self, pose: Pose | Motion) -> dict[int, Floats]:
        """The coordinates (C,) or (P, C) of each driver, by its identity: layers may share one."""
        if not self.drivers:
            return {}
        pose = self.aligned(pose)[0]
        parts = parts_of(self.rig.skeleton).of(pose)
        return {id(driver): self.coordinates(driver, pose, parts) for driver in self.drivers}

    def _driven(self, pose: Pose, by_driver: dict[int, Floats]) -> Driven:
        transforms, amounts = self.bones.drive(pose, self.rig)
        detail_driver = None if self.detail is None else self.detail.driver
        return Driven(
            transforms,
            [by_driver[id(layer.driver)] for layer in self.layers],
            amounts,
            [by_driver[id(layer.normal_driver or layer.driver)] for layer in self.layers],
            np.zeros(0) if detail_driver is None else by_driver[id(detail_driver)],
        )

    def _displaced(self, coordinates: list[Floats]) -> Floats:
        total = np.zeros(self.rig.mesh.points.shape)
        for layer, values in zip(self.layers, coordinates, strict=True):
            total[layer.support] += combined(layer.basis, values)
        return total

    def _displaced_normals(self, coordinates: list[Floats]) -> Floats:
        total = np.zeros(self.rig.mesh.points.shape)
        for layer, values in zip(self.layers, coordinates, strict=True):
            if layer.normal_basis is not None:
                total[layer.support] += combined(layer.normal_basis, values)
        return total

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3), on the subdivided surface where there is detail."""
        require_pose("skin.pose", pose)
        return self._posed(pose, self._by_driver(pose))

    def poses(self, motion: Motion) -> Iterator[tuple[Floats, Floats]]:
        """Yield what `pose` returns for each pose of a motion, in less time: many are driven at once."""
        for start in range(0, len(motion), _BLOCK):
            block = motion[start : start + _BLOCK]
            by_driver = self._by_driver(block)
            for k, pose in enumerate(block):
                yield self._posed(pose, {driver: values[k] for driver, values in by_driver.items()})

    @cached_property
    def carries_normals(self) -> bool:
        """Whether bones carry the normals before detail; else they are those of the posed surface."""
        displaced = bool(self.layers) or self.bones.correction_count > 0
        return not displaced or any(layer.normal_basis is not None for layer in self.layers)

    def _posed(self, pose: Pose, by_driver: dict[int, Floats]) -> tuple[Floats, Floats]:
        for line in self.unknown_controls(pose.controls):
            warnings.warn(line, stacklevel=3)
        rig, driven = self.rig, self._driven(pose, by_driver)
        blend = BLENDINGS[rig.blending](driven.transforms, *self.binding[:2])
        displaced = self._displaced(driven.coordinates)
        if self.bones.correction_count:
            displaced += self.corrections(driven.amounts)
        points = skinning.apply(blend, rig.mesh.points + displaced)
        if self.detail is not None:
            return self._add_detail(self.detail, driven, points)
        if not self.carries_normals:
            return points, rig.mesh.normals(points)
        normals = rig.normals + self._displaced_normals(driven.normal_coordinates)
        return points, skinning.cofactor_normals(blend, normals)

    def heights(self, pose: Pose) -> Floats:
        """Return the heights (F,) that the detail has in a pose, over the subdivided surface."""
        if self.detail is None:
            raise InputError("heights: expected a skin with detail, got one without")
        return self._heights(self.detail, self.drive(pose))

    def _heights(self, detail: Detail, driven: Driven) -> Floats:
        """The heights (F,) of the detail by its driver, or by the amounts of each vertex."""
        if detail.driver is not None:
            return detail.heights_at(driven.detail_coordinates)
        amounts = self.binding.per_vertex(driven.amounts[:, self.bones.correction_count :])
        for level in self._levels:
            amounts = level.refine(amounts)
        return detail.heights_at(amounts)

    def _add_detail(self, detail: Detail, driven: Driven, points: Floats) -> tuple[Floats, Floats]:
        """The coarse points (N, 3) subdivided and moved along their normals by the heights."""
        for level in self._levels:
            points = level.refine(points)
        points = points + self._heights(detail, driven)[:, None] * self.mesh.normals(points)
        return points, self.mesh.normals(points)

    def packed(self, bits: int = 16) -> Skin:
        """Return the skin with its bases packed: displacements only where they are not zero, in 32, 16 or 8 bits.

        So are the heights of its detail and the corrections of learned bones.
        """
        layers = tuple(layer.packed(bits) for layer in self.layers)
        detail = None if self.detail is None else self.detail.packed(bits)
        return replace(self, layers=layers, detail=detail, bones=self.bones.packed(bits))

    def truncated(self, components: int) -> Skin:
        """Return the skin with at most the first `components` of each layer; 0 leaves plain skinning.

        A lower level of detail where a layer's components are ordered by importance, as EigenSkin's are.
        """
        if components < 0:
            raise InputError(f"components: expected at least 0, got {components}")
        # Layers that share a driver still share it afterwards.
        truncate = cache(partial(Driver.truncated, components=components))
        layers = tuple(layer.truncated(components, truncate) for layer in self.layers) if components else ()
        return replace(self, layers=layers)

    def compile(self, backend: str = "cpu", normals: bool = True, **options: Any) -> Player:
        """Return a player, which poses the skin fast, many times over: `play = skin.compile(); play(pose)`.

        Parameters
        ----------
        backend : "cpu": compiled loops on several cores; "gpu": WebGPU, needs posespace[gpu]
        normals : whether it gives normals too; points alone are faster
        options : the backend's own: threads for "cpu", device for "gpu"
        """
        player: Player = late("compile skin")(self, backend, normals=normals, **options)
        return player

    def edited(self, scale: Mapping[str | int, float] | None = None, exaggerate: float = 1.0) -> Skin:
        """Return the skin with its corrections stronger or weaker; 0 mutes.

        Parameters
        ----------
        scale : factors by name: of a layer, of one of its components, e.g. "forearm:3" (counted from 1), or of a
            component by its number alone where there is only one layer
        exaggerate : a factor for everything
        """
        skin: Skin = late("edit skin")(self, scale, exaggerate)
        return skin

    def save(self, path: str | Path) -> None:
        """Write the skin to one file (`.skin`, safetensors), atomically. Any other ending is refused."""
        file = Path(path)
        if file.suffix.lower() != ".skin":
            raise FileError(file, "a skin is saved with the ending .skin; for other programs, take posespace.export")
        late("write skin")(file, self)

    @classmethod
    def load(cls, path: str | Path) -> Skin:
        """Load a skin file, or a glTF file that a skin was exported to. It is read whole.

        Later changes of the file do not change the skin. (`load` is for the library's files that are read whole,
        `Examples.open` for those that stay on disk, `ps.load_*` for files of other programs.)
        """
        skin: Skin = late("read skin")(path)
        return skin


class Posable(Protocol):
    """What can be evaluated: a `Skin`, or a rival that cannot be one and then has `tables`, the arrays it stores."""

    @property
    def rig(self) -> Rig:
        """The rig it moves."""
        ...

    @property
    def points(self) -> Ints:
        """(M,) int32, the vertices that control points are on; (0,) where joints make the pose."""
        ...

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3)."""
        ...
