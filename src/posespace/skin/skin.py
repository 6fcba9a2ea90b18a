"""Skin: the result of every fit, with its three stages: drive, skin and detail.

This is the reference evaluator: plain NumPy, one pose at a time. The fast ones are in `runtime/`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import FileError, InputError, suggestion
from posespace.geometry import rotations, skinning
from posespace.geometry.subdivision import Subdivision, fine_vertex_count, levels_of
from posespace.late import late
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose, require_pose
from posespace.poses.parts import parts_of
from posespace.rig import Rig
from posespace.skin.basis import Basis, combined
from posespace.skin.bones.learned import LearnedBones, require_control_points
from posespace.skin.bones.positions import BonePositions
from posespace.skin.bound import Bound, Neighbourhoods, limits_of
from posespace.skin.detail import Detail
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer

if TYPE_CHECKING:
    from posespace.runtime.player import Player

_BLOCK = 64
"""Most poses that are driven at once."""

Posed = TypeVar("Posed", bound=Pose | Motion)


@dataclass(frozen=True, eq=False)
class Skin:
    """A rig with the corrections that a fit learned.

    Parameters
    ----------
    rig : the rest shape, its skeleton and weights
    layers : displacements added before the bones
    detail : a height map added after the bones, or None
    about : how it was made: method, settings, figures of the fit; any JSON. See `posespace.skin.provenance`
    bones : learned bones, where the joints are control points; None: the skeleton's joints are the bones
    """

    rig: Rig
    layers: tuple[Layer, ...] = ()
    detail: Detail | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    bones: LearnedBones | None = None

    def __post_init__(self) -> None:
        check.kind("rig", self.rig, Rig)
        count = len(self.rig.mesh.points)
        if self.bones is not None:
            _check_bones(self.bones, self.rig)
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
            components = 0 if self.bones is None else self.bones.detail_count
            if self.detail.driver is None and components != len(self.detail.heights):
                raise InputError(
                    f"detail: expected a driver, or bones that give {len(self.detail.heights)} amounts of it"
                )

    def __repr__(self) -> str:
        parts = f"{', learned bones' if self.bones else ''}{', detail' if self.detail else ''}"
        return f"Skin({self.rig}, {len(self.layers)} layers{parts})"

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
    def binding(self) -> tuple[Ints, Floats, int]:
        """The bones (N, K) that move each vertex, their weights (N, K), and how many bones there are."""
        if self.bones is not None:
            return self.bones.influences, self.bones.weights, len(self.bones)
        return self.rig.influences, self.rig.weights, len(self.rig.skeleton)

    @cached_property
    def bone_positions(self) -> BonePositions:
        """Solves for the positions of learned bones from their rotations."""
        assert self.bones is not None
        return BonePositions(self.bones, self.rig.mesh)

    def drive(self, pose: Pose) -> tuple[Floats, list[Floats]]:
        """Return the bone transforms (J, 3, 4) and each layer's coordinates (C,)."""
        driven = self._driven(pose)
        return self.transforms(pose), [driven[id(layer.driver)] for layer in self.layers]

    def transforms(self, pose: Pose) -> Floats:
        """Return the bone transforms (J, 3, 4) of a pose: rest to posed space."""
        return self.rig.transforms(pose) if self.bones is None else self._learned(pose)[0]

    def _learned(self, pose: Pose) -> tuple[Floats, Floats]:
        """The transforms (B, 3, 4) of learned bones and their amounts (B, K + D) of corrections and detail."""
        assert self.bones is not None
        aligned, rotation, translation = self.aligned(pose)
        point_translations = aligned.translations[1:]
        quaternions, amounts = self.bones.predict(point_translations)
        local = rotations.matrices(quaternions)
        transforms = np.empty((len(local), 3, 4))
        transforms[..., :3] = rotation @ local
        with np.errstate(over="ignore", invalid="ignore"):
            positions = self.bones.centres + self.bone_positions(local, point_translations)
            positions = positions @ rotation.T + translation
            transforms[..., 3] = positions - np.einsum("bij,bj->bi", transforms[..., :3], self.bones.centres)
        check.ordinary("bone transforms", transforms)
        return transforms, amounts

    def aligned(self, pose: Posed) -> tuple[Posed, Floats, Floats]:
        """Return a pose, or a motion, without the rigid motion of the whole, and that motion: (..., 3, 3), (..., 3).

        Control points are aligned to their rest positions. A skeleton's pose is returned unchanged.
        """
        skeleton = self.rig.skeleton
        if self.bones is None:
            shape = pose.rotations.shape[:-2]
            return pose, np.broadcast_to(np.eye(3), (*shape, 3, 3)), np.zeros((*shape, 3))
        joints = pose.rotations.shape[-2]
        if joints != len(skeleton):
            raise InputError(f"pose: expected {len(skeleton)} joints as in the rig, got {joints}")
        translations, rotation, translation = self.bones.aligned(pose.rotations, pose.translations)
        rest = np.broadcast_to(skeleton.rest_rotations, pose.rotations.shape)
        return replace(pose, rotations=rest, translations=translations), rotation, translation

    @cached_property
    def correction_limits(self) -> Floats:
        """The largest displacement (N,) of each vertex by corrections of learned bones; see `posespace.skin.bound`."""
        assert self.bones is not None
        amounts = (self.bones.predict(positions - self.bones.rest)[1] for positions in self.bones.samples)
        vertices = np.arange(len(self.rig.mesh.points), dtype=np.int32)
        return limits_of(map(self.bones.displacements, amounts), vertices, Neighbourhoods(self.rig.mesh))

    def corrections(self, amounts: Floats) -> Floats:
        """Return the displacements (N, 3) by learned bones with amounts (B, K + D), within their limits.

        Each vertex is limited by itself: one bone's excess must not weaken the others.
        """
        assert self.bones is not None
        displaced = self.bones.displacements(amounts)
        if self.bones.corrections is None:
            return displaced
        over = np.linalg.norm(displaced, axis=1) / self.correction_limits
        return np.asarray(displaced / np.maximum(over, 1.0)[:, None])

    def displacements(self, pose: Pose) -> Floats:
        """Return the sum of all layers' displacements (N, 3) in the rest shape."""
        return self._displaced(self._driven(pose))

    def normal_displacements(self, pose: Pose) -> Floats:
        """Return the sum of all layers' corrections (N, 3) of the rest normals."""
        return self._displaced_normals(self._driven(pose))

    def coordinates(self, driver: Driver, pose: Pose | Motion, parts: tuple[Floats, Floats] | None = None) -> Floats:
        """Return the coordinates (C,) of a pose, or (P, C) of a motion, that one of `drivers` gives, within its bound.

        The `parts` of the pose may be given: see `Parts.of`.
        """
        return self.bounds[id(driver)].kept(driver.coordinates(pose, self.rig.skeleton, parts))

    def _driven(self, pose: Pose | Motion) -> dict[int, Floats]:
        """The coordinates (C,) or (P, C) of each driver, by its identity: layers may share one."""
        if not self.drivers:
            return {}
        pose = self.aligned(pose)[0]
        parts = parts_of(self.rig.skeleton).of(pose)
        return {id(driver): self.coordinates(driver, pose, parts) for driver in self.drivers}

    def _displaced(self, driven: dict[int, Floats]) -> Floats:
        total = np.zeros(self.rig.mesh.points.shape)
        for layer in self.layers:
            total[layer.support] += combined(layer.basis, driven[id(layer.driver)])
        return total

    def _displaced_normals(self, driven: dict[int, Floats]) -> Floats:
        total = np.zeros(self.rig.mesh.points.shape)
        for layer in self.layers:
            if layer.normal_basis is not None:
                driver = layer.normal_driver or layer.driver
                total[layer.support] += combined(layer.normal_basis, driven[id(driver)])
        return total

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3), on the subdivided surface where there is detail."""
        require_pose("skin.pose", pose)
        return self._posed(pose, self._driven(pose))

    def poses(self, motion: Motion) -> Iterator[tuple[Floats, Floats]]:
        """Yield what `pose` returns for each pose of a motion, in less time: many are driven at once."""
        for start in range(0, len(motion), _BLOCK):
            block = motion[start : start + _BLOCK]
            driven = self._driven(block)
            for k, pose in enumerate(block):
                yield self._posed(pose, {driver: values[k] for driver, values in driven.items()})

    def _posed(self, pose: Pose, driven: dict[int, Floats]) -> tuple[Floats, Floats]:
        for line in self.unknown_controls(pose.controls):
            warnings.warn(line, stacklevel=3)
        rig, displaced, vertex_amounts = self.rig, self._displaced(driven), None
        if self.bones is None:
            blend = rig.blend(pose)
        else:
            transforms, amounts = self._learned(pose)
            vertex_amounts = self.bones.per_vertex(amounts[:, self.bones.correction_count :])
            blend = skinning.blend_linear(transforms, self.bones.influences, self.bones.weights)
            displaced = displaced + self.corrections(amounts)
        points = skinning.apply(blend, rig.mesh.points + displaced)
        if any(layer.normal_basis is not None for layer in self.layers):
            normals = skinning.cofactor_normals(blend, rig.normals + self._displaced_normals(driven))
        elif self.layers or (self.bones is not None and self.bones.corrections is not None):
            normals = rig.mesh.normals(points)
        else:
            normals = skinning.cofactor_normals(blend, rig.normals)
        return (points, normals) if self.detail is None else self._add_detail(driven, vertex_amounts, points)

    def heights(self, pose: Pose) -> Floats:
        """Return the heights (F,) that the detail has in a pose, over the subdivided surface."""
        if self.detail is None:
            raise InputError("heights: expected a skin with detail, got one without")
        amounts = None
        if self.bones is not None:
            amounts = self.bones.per_vertex(self._learned(pose)[1][:, self.bones.correction_count :])
        return self._heights(self._driven(pose), amounts)

    def _heights(self, driven: dict[int, Floats], amounts: Floats | None) -> Floats:
        """The heights (F,) of the detail by its driver, or by the amounts (N, D) of each vertex."""
        assert self.detail is not None
        coordinates = amounts if self.detail.driver is None else driven[id(self.detail.driver)]
        assert coordinates is not None
        for level in self._levels if coordinates.ndim > 1 else ():
            coordinates = level.refine(coordinates)
        return self.detail.heights_at(coordinates)

    def _add_detail(self, driven: dict[int, Floats], amounts: Floats | None, points: Floats) -> tuple[Floats, Floats]:
        """The coarse points subdivided and moved along their normals by the heights."""
        for level in self._levels:
            points = level.refine(points)
        heights = self._heights(driven, amounts)
        points = points + heights[:, None] * self.mesh.normals(points)
        return points, self.mesh.normals(points)

    def packed(self, bits: int = 16) -> Skin:
        """Return the skin with its bases packed: displacements only where they are not zero, in 32, 16 or 8 bits.

        So are the heights of its detail and the corrections of learned bones.
        """
        detail = None if self.detail is None else self.detail.packed(bits)
        bones = None if self.bones is None else self.bones.packed(bits)
        return replace(self, layers=tuple(layer.packed(bits) for layer in self.layers), detail=detail, bones=bones)

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


def _check_bones(bones: LearnedBones, rig: Rig) -> None:
    count = len(rig.mesh.points)
    check.kind("bones", bones, LearnedBones)
    if len(bones.weights) != count or int(bones.points.max()) >= count:
        raise InputError(f"learned bones: expected weights and points of {count} vertices as in the rig, got others")
    if rig.blending != "linear":
        raise InputError(f"learned bones: expected a rig that blends linearly, got {rig.blending}")
    require_control_points(rig.skeleton, bones)


class Posable(Protocol):
    """What can be evaluated: a `Skin`, or a rival that cannot be one and then has `tables`, the arrays it stores."""

    @property
    def rig(self) -> Rig:
        """The rig it moves."""
        ...

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3)."""
        ...
