"""A skin's layers as morph targets whose weights stay within 0 and 1, because many programs clamp them.

A weight counts from the lowest coordinate that occurs; what all those lowest coordinates would add, one more target,
the offset, adds once and for all. So there is one target per component, and with all weights at zero, or in a program
that knows no morph targets, the file shows the rest shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from posespace.check import Floats, Ints
from posespace.formats.gltf.write.names import short_names, with_ending
from posespace.motion import Motion
from posespace.skin.basis import Basis
from posespace.skin.driver import Driver
from posespace.skin.skin import Skin

_STILL = 1e-7
"""Coordinates that move nothing farther than this fraction of the box are as good as zero."""


_MOST_STRETCH = 1000.0
"""Most that a target is stretched: weights stay well above what single precision can tell apart."""


@dataclass(frozen=True, eq=False)
class Component:
    """One component of a layer, or a blend shape of the rig's own file.

    Parameters
    ----------
    name : of the target
    support : (S,) vertices, ascending
    points, normals : (S, 3) displacements per unit of the coordinate, or None
    range : the coordinates that are known to occur, besides those of the motion
    shown : the coordinate of the pose that the file shows
    played : (P,) the coordinates of the motion's poses
    layer, component : which of the skin's, -1 for a blend shape
    of_normals : whether it is of the layer's own driver of normals
    is_fallback : whether it is for programs that know no drivers
    """

    name: str
    support: Ints
    points: Floats | None
    normals: Floats | None
    range: Floats
    shown: float
    played: Floats
    layer: int = -1
    component: int = -1
    of_normals: bool = False
    is_fallback: bool = False


@dataclass(frozen=True, eq=False)
class Target:
    """A morph target: weight = (coordinate - low) / scale.

    Parameters
    ----------
    name : at most 63 bytes
    layer, component : which of the skin's; -1 for the offset and for the blend shapes of the rig's own file
    low, scale : of its coordinate
    support : (S,) vertices, ascending
    points, normals : (S, 3) or None, displacements of a weight of 1
    shown : the weight of the pose that the file shows
    weights : (P,) of the motion's poses
    of_normals : whether it is of the layer's own driver of normals
    is_offset : whether it is the offset
    is_fallback : whether it is for programs that know no drivers
    """

    name: str
    layer: int
    component: int
    low: float
    scale: float
    support: Ints
    points: Floats | None
    normals: Floats | None
    shown: float
    weights: Floats
    of_normals: bool = False
    is_offset: bool = False
    is_fallback: bool = False


def make_targets(skin: Skin, rest: Motion, motion: Motion | None, fallbacks: Sequence[Component] = ()) -> list[Target]:
    """Return the targets of a skin: those of its layers and blend shapes, then the fallbacks, each with an offset last.

    Parameters
    ----------
    skin : whose components become targets
    rest : the one pose that the file shows
    motion : what it plays, or None
    fallbacks : further components, for programs that know no drivers
    """
    poses = 0 if motion is None else len(motion)
    targets = _counted(chain(_learned(skin, rest, motion), _own(skin, motion)), skin, poses)
    targets += (replace(target, is_fallback=True) for target in _counted(fallbacks, skin, poses))
    names = short_names(target.name for target in targets)
    return [replace(target, name=name) for name, target in zip(names, targets, strict=True)]


def _counted(components: Iterable[Component], skin: Skin, poses: int) -> list[Target]:
    """Targets whose weights count from the lowest coordinate, and the offset that this needs, if any."""
    still = _STILL * skin.rig.mesh.diagonal
    targets: list[Target] = []
    offset = _Offset(len(skin.rig.mesh.points))
    for component in components:
        low, scale = _range(component, still)
        offset.add(component, low)
        targets.append(_target(component, low, scale))
    return targets + offset.target(poses)


def stretched(targets: list[Target], most: float) -> list[Target]:
    """Return targets that go farther at smaller weights, so that numbers stored as whole ones keep more digits.

    No displacement becomes longer than `most`, in the skin's unit, and no correction of a normal longer than 1.
    """
    return [_stretched(target, most) if target.layer >= 0 or target.is_fallback else target for target in targets]


def _stretched(target: Target, most: float) -> Target:
    room = [(target.points, most), (target.normals, 1.0)]
    lengths = [(float(np.linalg.norm(part, axis=1).max(initial=0.0)), end) for part, end in room if part is not None]
    factor = min((end / length for length, end in lengths if length > 0), default=1.0)
    factor = min(max(factor, 1.0), _MOST_STRETCH)
    points, normals = (None if part is None else factor * part for part, _ in room)
    shown, weights, scale = target.shown / factor, target.weights / factor, target.scale * factor
    return replace(target, points=points, normals=normals, shown=shown, weights=weights, scale=scale)


def _range(component: Component, still: float) -> tuple[float, float]:
    """Return the coordinate of weight 0, and the signed distance from it to that of weight 1."""
    values = np.concatenate([component.range, [component.shown], component.played])
    # Where only normals move, a length is one of a normal's.
    moved, least = (component.points, still) if component.points is not None else (component.normals, _STILL)
    farthest = 0.0 if moved is None else float(np.abs(moved).max(initial=0.0))
    low, high = (float(end) if abs(end) * farthest > least else 0.0 for end in (values.min(), values.max()))
    low, high = min(low, 0.0), max(high, 0.0)
    if component.layer < 0 and not component.is_fallback:
        high = max(high, 1.0)  # an artist's blend shape stays as it is, unless a clip goes beyond it
    if high == 0:
        return 0.0, low or 1.0
    return low, high - low


def _target(component: Component, low: float, scale: float) -> Target:
    points, normals = (None if part is None else scale * part for part in (component.points, component.normals))
    # Rounding in the interpolant must not make the file show a morph.
    shown = 0.0 if abs(component.shown) < 1e-6 * abs(scale) else component.shown
    at_rest, weights = (np.clip((value - low) / scale, 0, 1) for value in (np.array(shown), component.played))
    origin = component.name, component.layer, component.component
    return Target(
        *origin, low, scale, component.support, points, normals, float(at_rest), weights, component.of_normals
    )


class _Offset:
    """Sums what the lowest coordinates of all components add to N vertices."""

    def __init__(self, count: int) -> None:
        self._sums = {kind: np.zeros((count, 3)) for kind in ("points", "normals")}

    def add(self, component: Component, low: float) -> None:
        """Take account of one component."""
        for kind, part in (("points", component.points), ("normals", component.normals)):
            if part is not None and low:
                self._sums[kind][component.support] += low * part

    def target(self, poses: int) -> list[Target]:
        """Return the target, whose weight is always 1; none where all coordinates are at least 0."""
        points, normals = self._sums.values()
        rows = np.flatnonzero((points != 0).any(axis=1) | (normals != 0).any(axis=1)).astype(np.int32)
        if not len(rows):
            return []
        moved_normals = normals[rows] if normals.any() else None
        return [
            Target("offset", -1, -1, 0.0, 1.0, rows, points[rows], moved_normals, 1.0, np.ones(poses), is_offset=True)
        ]


def _learned(skin: Skin, rest: Motion, motion: Motion | None) -> Iterator[Component]:
    """Return the components of all layers, in the order of their coordinates."""
    for number, layer in enumerate(skin.layers):
        shared = layer.normal_basis if layer.normal_driver is None else None
        components = _driven(skin, layer.name, layer.driver, layer.support, (layer.basis, shared), rest, motion)
        yield from (replace(component, layer=number) for component in components)
        if layer.normal_driver is not None:
            name, bases = f"{layer.name} normals", (None, layer.normal_basis)
            components = _driven(skin, name, layer.normal_driver, layer.support, bases, rest, motion)
            yield from (replace(component, layer=number, of_normals=True) for component in components)


def _driven(
    skin: Skin,
    name: str,
    driver: Driver,
    support: Ints,
    bases: tuple[Basis | None, Basis | None],
    rest: Motion,
    motion: Motion | None,
) -> Iterator[Component]:
    """Return the components of bases of points and of normals that share a driver."""
    count = driver.components
    centres = driver.interpolant(driver.interpolant.centres).reshape(-1, count)
    still = _coordinates(driver, rest, skin)[0]
    played = still[None][:0] if motion is None else _coordinates(driver, motion, skin)
    points, normals = (None if basis is None else np.asarray(basis, dtype=np.float64) for basis in bases)
    for k in range(count):
        component_name = name if count == 1 else with_ending(name, f" {k + 1}")
        moved, normal = None if points is None else points[k], None if normals is None else normals[k]
        values = centres[:, k], float(still[k]), played[:, k]
        yield Component(component_name, support, moved, normal, *values, component=k)


def _own(skin: Skin, motion: Motion | None) -> Iterator[Component]:
    """Return the blend shapes of the rig's file that the skin has not learned; controls of their names move them."""
    look = skin.rig.mesh.look
    for name, (rows, values) in ({} if look is None else look.morphs).items():
        if name not in skin.control_names:
            frames: Floats = np.zeros(0 if motion is None else len(motion))
            if motion is not None and name in motion.control_names:
                frames = motion.controls[:, motion.control_names.index(name)]
            yield Component(name, rows, values.astype(np.float64), None, np.ones(1), 0.0, frames)


def _coordinates(driver: Driver, motion: Motion, skin: Skin) -> Floats:
    return skin.coordinates(driver, skin.aligned(motion)[0])
