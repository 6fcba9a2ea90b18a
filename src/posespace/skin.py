"""Skin: what every fit returns and everything else uses, with its three stages drive, skin and detail.

This is the reference: plain NumPy, one pose at a time. The fast evaluators are in `runtime/`.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from posespace import skinning
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.subdivision import Subdivision, fine_vertex_count, levels_of
from posespace.mesh import Mesh
from posespace.pose import Pose
from posespace.rig import BLENDINGS, Rig

if TYPE_CHECKING:
    from posespace.runtime.player import Player
from posespace.layer import Detail, Layer, combined


@dataclass(frozen=True, eq=False)
class Skin:
    """A rig with what was learned about it.

    Parameters
    ----------
    rig : the rest shape, its skeleton and weights
    layers : displacements added before the bones
    detail : relief added after them, or None
    about : how it was made: method, settings, figures of the fit; any JSON
    """

    rig: Rig
    layers: tuple[Layer, ...] = ()
    detail: Detail | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.rig.mesh.points)
        object.__setattr__(self, "layers", tuple(self.layers))
        for layer in self.layers:
            if len(layer.support) and layer.support[-1] >= count:
                raise InputError(f"layer {layer.name!r}: expected vertices below {count}, got {layer.support[-1]}")
        self._check_names()
        if self.detail is not None:
            fine = fine_vertex_count(self.rig.mesh.triangles, count, self.detail.levels)
            if fine != self.detail.heights.shape[1]:
                raise InputError(f"detail heights: expected {fine} vertices, got {self.detail.heights.shape[1]}")

    def __repr__(self) -> str:
        return f"Skin({self.rig}, {len(self.layers)} layers{', detail' if self.detail else ''})"

    def _check_names(self) -> None:
        drivers = [layer.driver for layer in self.layers]
        drivers += [layer.normal_driver for layer in self.layers if layer.normal_driver is not None]
        drivers += [self.detail.driver] if self.detail is not None else []
        for driver in drivers:
            driver.space.joints(self.rig.skeleton)

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

    @property
    def control_names(self) -> tuple[str, ...]:
        """The scalar controls, beside the joints, that the skin listens to."""
        found: dict[str, None] = {}
        for driver in [layer.driver for layer in self.layers] + ([self.detail.driver] if self.detail else []):
            found.update(dict.fromkeys(driver.space.controls(self.rig.skeleton)))
        return tuple(found)

    def drive(self, pose: Pose) -> tuple[Floats, list[Floats]]:
        """Return the bone transforms (J, 3, 4) and each layer's coordinates (C,)."""
        skeleton = self.rig.skeleton
        return self.rig.transforms(pose), [layer.driver.coordinates(pose, skeleton) for layer in self.layers]

    def displacements(self, pose: Pose) -> Floats:
        """Return the sum of all layers' displacements (N, 3) in the rest shape."""
        return self._displaced(self.drive(pose)[1])

    def _displaced(self, coordinates: list[Floats]) -> Floats:
        total = np.zeros(self.rig.mesh.points.shape)
        for layer, values in zip(self.layers, coordinates, strict=True):
            total[layer.support] += combined(layer.basis, values)
        return total

    def normal_displacements(self, pose: Pose) -> Floats:
        """Return the sum of all layers' corrections (N, 3) of the rest normals."""
        total = np.zeros(self.rig.mesh.points.shape)
        for layer in self.layers:
            if layer.normal_basis is not None:
                driver = layer.normal_driver or layer.driver
                coordinates = driver.coordinates(pose, self.rig.skeleton)
                total[layer.support] += combined(layer.normal_basis, coordinates)
        return total

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3), on the subdivided surface where there is detail."""
        if not isinstance(pose, Pose):
            raise InputError(f"skin.pose: expected one Pose, got a {type(pose).__name__}; take one, as motion[0]")
        self._warn_of_unknown_controls(pose)
        rig = self.rig
        transforms, coordinates = self.drive(pose)
        blend = BLENDINGS[rig.blending](transforms, rig.influences, rig.weights)
        points = skinning.apply(blend, rig.mesh.points + self._displaced(coordinates))
        if any(layer.normal_basis is not None for layer in self.layers):
            normals = skinning.cofactor_normals(blend, rig.normals + self.normal_displacements(pose))
        elif self.layers:
            normals = rig.mesh.normals(points)
        else:
            normals = skinning.cofactor_normals(blend, rig.normals)
        return (points, normals) if self.detail is None else self._add_detail(pose, points)

    def _warn_of_unknown_controls(self, pose: Pose) -> None:
        known = self.control_names
        for name, value in pose.controls.items() if known else ():
            if value and name not in known:
                close = difflib.get_close_matches(name[:80], known, n=1, cutoff=0.0)[0]
                warnings.warn(f"control {name!r} moves nothing in this skin; the closest is {close!r}", stacklevel=3)

    def _add_detail(self, pose: Pose, points: Floats) -> tuple[Floats, Floats]:
        assert self.detail is not None
        for level in self._levels:
            points = level.refine(points)
        heights = self.detail.driver.coordinates(pose, self.rig.skeleton) @ self.detail.heights
        points = points + heights[:, None] * self.mesh.normals(points)
        return points, self.mesh.normals(points)

    def quantised(self, bits: int = 16) -> Skin:
        """Return the skin with its displacements packed: each only where it is not zero, in 32, 16 or 8 bits."""
        return replace(self, layers=tuple(layer.packed(bits) for layer in self.layers))

    def truncated(self, components: int) -> Skin:
        """Return the skin with at most the first `components` coordinates of each layer; 0 leaves plain skinning.

        A lower level of detail where a layer's coordinates are ordered by importance, as EigenSkin's are.
        """
        if components < 0:
            raise InputError(f"components: expected at least 0, got {components}")
        layers = tuple(layer.truncated(components) for layer in self.layers) if components else ()
        return replace(self, layers=layers)

    def compile(self, backend: str = "cpu", normals: bool = True, **options: Any) -> Player:
        """Return a player, which poses the skin fast, again and again: `play = skin.compile(); play(pose)`.

        Parameters
        ----------
        backend : "cpu": compiled loops on several cores; "gpu": WebGPU, needs posespace[gpu]
        normals : whether it gives normals too; points alone are faster
        options : of the backend: threads for "cpu", device for "gpu"
        """
        from posespace.runtime import compile_skin

        return compile_skin(self, backend, normals=normals, **options)

    def edited(self, scale: Mapping[str | int, float] | None = None, exaggerate: float = 1.0) -> Skin:
        """Return the skin with its corrections stronger or weaker; 0 mutes.

        Parameters
        ----------
        scale : factors by name: of a layer, of one of its signals, as "forearm:3" (counted from 1), or of a signal by
            its number alone where there is one layer
        exaggerate : factor of everything
        """
        from posespace.edit import scaled

        return scaled(self, scale, exaggerate)

    def save(self, path: str | Path) -> None:
        """Write the skin to one file (`.skin`, safetensors), atomically."""
        from posespace.formats import skin_file

        skin_file.write(Path(path), self)

    @classmethod
    def load(cls, path: str | Path) -> Skin:
        """Open a skin file; its arrays are mapped, not copied."""
        from posespace.formats import skin_file

        return skin_file.read(Path(path))


class Posable(Protocol):
    """What can be judged: a `Skin`, or a rival that cannot be one and then also has `tables`, the arrays it stores."""

    @property
    def rig(self) -> Rig:
        """The rig it moves."""
        ...

    def pose(self, pose: Pose) -> tuple[Floats, Floats]:
        """Return the posed points (N, 3) and unit normals (N, 3)."""
        ...
