"""A skin's layers as morph targets: one per component, scaled so that its weight stays within -1 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posespace.check import Floats, Ints
from posespace.formats.contents import unique
from posespace.formats.gltf.write.buffers import Output
from posespace.layer import Basis, Driver
from posespace.motion import Motion
from posespace.skin import Skin


@dataclass(frozen=True, eq=False)
class _Displacements:
    """A layer's displacements (C, S, 3) of points, of normals, or of both, that share a driver."""

    name: str
    driver: Driver
    support: Ints
    points: Basis | None
    normals: Basis | None


@dataclass(frozen=True, eq=False)
class Targets:
    """Morph targets, one per component of all layers.

    Parameters
    ----------
    names : C
    accessors : C objects of the file
    scales : (C,) the coordinate that a weight of 1 stands for
    shown : (C,) weights of the pose that the file shows
    weights : (P, C) of the motion's poses
    """

    names: list[str]
    accessors: list[dict[str, Any]]
    scales: Floats
    shown: Floats
    weights: Floats


def make_targets(output: Output, skin: Skin, rest: Motion, motion: Motion | None) -> Targets:
    """Add the targets to the file; `rest` is the one pose that it shows.

    A coordinate's scale is its largest value over the samples of its driver and the motion, since engines clamp weights
    far outside 0 to 1.
    """
    parts = _parts(skin)
    with_normals = any(part.normals is not None for part in parts)
    names, accessors, scales, shown = list[str](), list[dict[str, Any]](), list[Floats](), list[Floats]()
    weights: list[Floats] = [np.zeros((0 if motion is None else len(motion), 0))]
    for part in parts:
        still = _coordinates(part.driver, rest, skin)
        played = still[:0] if motion is None else _coordinates(part.driver, motion, skin)
        centres = part.driver.interpolant(part.driver.interpolant.centres)
        largest = np.abs(np.concatenate([centres.reshape(len(centres), -1), still, played])).max(axis=0)
        scale = np.where(largest > 0, largest, 1.0)
        # A single component has the name that the artist gave: numbers are for several.
        names += [part.name] if len(scale) == 1 else [f"{part.name} {k + 1}" for k in range(len(scale))]
        accessors += _accessors(output, part, scale, len(skin.rig.mesh.points), with_normals)
        scales.append(scale)
        # Rounding in the interpolant must not make the file show a morph.
        shown.append(np.where(np.abs(still[0]) > 1e-6 * scale, still[0] / scale, 0.0))
        weights.append(played / scale)
    none = [np.zeros(0)]
    joined = np.concatenate(weights, axis=1)
    return Targets(
        unique(names, "target"), accessors, np.concatenate(none + scales), np.concatenate(none + shown), joined
    )


def _parts(skin: Skin) -> list[_Displacements]:
    parts = []
    for layer in skin.layers:
        shared = layer.normal_basis if layer.normal_driver is None else None
        parts.append(_Displacements(layer.name, layer.driver, layer.support, layer.basis, shared))
        if layer.normal_driver is not None:
            name = f"{layer.name} normals"
            parts.append(_Displacements(name, layer.normal_driver, layer.support, None, layer.normal_basis))
    return parts


def _coordinates(driver: Driver, motion: Motion, skin: Skin) -> Floats:
    values: Floats = driver.interpolant(driver.space.coordinates(motion, skin.rig.skeleton))
    return values.reshape(len(motion), -1)


def _accessors(
    output: Output, part: _Displacements, scale: Floats, count: int, with_normals: bool
) -> list[dict[str, Any]]:
    """One object per component. All have the same attributes: some loaders take a missing one for the rest shape."""
    found: list[dict[str, Any]] = [{} for _ in scale]
    kinds = {"POSITION": part.points} | ({"NORMAL": part.normals} if with_normals else {})
    for kind, basis in kinds.items():
        dense = np.zeros((len(scale), 0, 3)) if basis is None else np.asarray(basis, dtype=np.float64)
        support = part.support[: dense.shape[1]]
        for target, values, unit in zip(found, dense, scale, strict=True):
            target[kind] = output.add_sparse(support, (unit * values).astype(np.float32), count)
    return found
