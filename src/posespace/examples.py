"""Examples: a rig, poses and the observed shape at each pose. The only thing a fit reads."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry.subdivision import MOST_LEVELS
from posespace.late import late
from posespace.motion import Motion, matching
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.sculpt import Radii


class Shapes(Protocol):
    """Observed shapes by number: an array (P, N, 3), or a store that maps each one when it is asked for.

    Heights of detail by number are the same: an array (P, M), or a store.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Examples:
    """Observed shapes of one rig, with their poses.

    Parameters
    ----------
    rig : the rig, whose mesh is the rest shape
    motion : P poses
    shapes : P observed shapes (N, 3) in posed space
    heights : of detail, or None: for each shape (M,), the distance of the observed surface from the shape along its
        normals, on the mesh subdivided `levels` times
    levels : subdivisions of the mesh that `heights` are on, 0 to 6
    radii : of the influence of single examples, by the name of their pose, for fits that interpolate them (PSD)
    control_radii : of the influence of all, by joint, control or layer, where such a fit's settings give no radius
    """

    rig: Rig
    motion: Motion
    shapes: Shapes
    heights: Shapes | None = None
    levels: int = 0
    radii: Mapping[str, float] = field(default_factory=dict)
    control_radii: Radii = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.shapes) != len(self.motion):
            raise InputError(f"examples: expected {len(self.motion)} shapes, one per pose, got {len(self.shapes)}")
        if self.motion.rotations.shape[1] != len(self.rig.skeleton):
            joints = self.motion.rotations.shape[1]
            raise InputError(f"examples: expected poses of {len(self.rig.skeleton)} joints as in the rig, got {joints}")
        if self.heights is not None and len(self.heights) != len(self.motion):
            raise InputError(f"examples: expected heights of {len(self.motion)} shapes, got {len(self.heights)}")
        if not 0 <= check.whole("levels", self.levels) <= MOST_LEVELS:
            raise InputError(f"levels: expected 0 to {MOST_LEVELS}, got {self.levels}")

    def __repr__(self) -> str:
        return f"Examples({len(self)} shapes of {self.rig})"

    @classmethod
    def from_shapes(cls, rig: Rig, motion: Motion, shapes: ArrayLike | Sequence[ArrayLike]) -> Examples:
        """Examples in memory; `shapes` is (P, N, 3), or P arrays (N, 3)."""
        for name, argument, kind in (("rig", rig, Rig), ("motion", motion, Motion)):
            if not isinstance(argument, kind):
                order = "Examples.from_shapes(rig, motion, shapes)"
                raise InputError(f"{name}: expected a {kind.__name__}, got {type(argument).__name__}; call {order}")
        expected = rig.mesh.points.shape
        if isinstance(shapes, np.ndarray):
            return cls(rig, motion, check.floats("example shapes", shapes, (len(motion), *expected)))
        named = zip(shapes, motion.names, strict=False)  # type: ignore[arg-type]
        checked = [check.floats(f"shape of pose {name!r}", shape, expected) for shape, name in named]
        return cls(rig, motion, np.stack(checked) if checked else np.zeros((0, *expected)))

    @classmethod
    def open(cls, path: str | Path) -> Examples:
        """Open a store: the library's own file of examples. Shapes stay on disk and are mapped when they are used.

        Poses that are not finished and muted sculpts are left out, with a warning. (`open` is for the library's files
        that stay on disk, `Skin.load` for those that are read whole, `ps.load_*` for files of other programs.)
        """
        store = late("example store").open(path)
        if store.muted:
            names = ", ".join(name for name in store.motion.names if name in store.muted)
            warnings.warn(f"{path}: muted sculpts are left out: {names[:200]}", stacklevel=2)
        finished = np.flatnonzero(store.finished())
        if 0 < len(finished) < len(store):
            missing = f"{len(store) - len(finished)} of its {len(store)} poses are not finished"
            warnings.warn(f"{path}: {missing} and are left out", stacklevel=2)
        kept = np.array([k for k in finished if store.motion.names[k] not in store.muted], dtype=np.intp)
        heights = None if store.levels is None else _ChosenShapes(store.heights, kept)
        shapes = _ChosenShapes(store.shape, kept)
        levels = store.levels or 0
        return cls(store.rig, store.motion[kept], shapes, heights, levels, store.radii, store.control_radii)

    def save(self, path: str | Path) -> None:
        """Write all examples to a new store; it appears whole or not at all."""
        levels = None if self.heights is None else self.levels
        radii = self.radii, self.control_radii
        with late("example store").whole(path, self.rig, self.motion, levels, *radii) as store:
            for index in range(len(self)):
                store.write(index, self.shapes[index], None if self.heights is None else self.heights[index])

    def __len__(self) -> int:
        return len(self.motion)

    def __iter__(self) -> Iterator[tuple[Pose, Floats]]:
        return ((self.motion[k], self.shapes[k]) for k in range(len(self)))

    @overload
    def __getitem__(self, key: int | str) -> tuple[Pose, Floats]: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> Examples: ...
    def __getitem__(self, key: int | str | slice | Sequence[int] | NDArray[Any]) -> tuple[Pose, Floats] | Examples:
        """Return one example, its pose and its shape, by number or name; or several, by a slice, numbers or a mask."""
        if isinstance(key, str):
            key = self.motion.index(key)
        if isinstance(key, int | np.integer):
            return self.motion[key], self.shapes[range(len(self))[key]]
        numbers = self._numbers(key)
        heights = None if self.heights is None else _ChosenShapes(self.heights.__getitem__, numbers)
        shapes = _ChosenShapes(self.shapes.__getitem__, numbers)
        return replace(self, motion=self.motion[numbers], shapes=shapes, heights=heights)

    def _numbers(self, key: slice | Sequence[int] | NDArray[Any]) -> NDArray[np.integer]:
        """The numbers of the examples that a slice, a list or a mask chooses."""
        numbers = np.arange(len(self))
        if isinstance(key, slice):
            return numbers[key]
        try:
            return np.asarray(numbers[np.asarray(key, dtype=None if len(key) else np.int64)])
        except IndexError as error:
            raise InputError(f"examples: expected whole numbers from 0 to {len(self) - 1} ({error})") from None

    def named(self, *patterns: str) -> Examples:
        """Return those whose name matches a pattern, e.g. "wrist.*"; "!" before a pattern excludes its matches."""
        return self[matching(self.motion.names, patterns)]

    def joined(self, *others: Examples) -> Examples:
        """Return these and other examples of one rig as one set; detail is kept where all have it on equal levels."""
        sets = (self, *others)
        for other in others:
            same = other.rig.mesh.points.shape == self.rig.mesh.points.shape
            if not same or other.rig.skeleton.names != self.rig.skeleton.names:
                raise InputError(f"joined: expected examples of one rig, got {self.rig} and {other.rig}")
        poses = [pose for examples in sets for pose in examples.motion]
        motion = Motion.from_poses(poses, [name for examples in sets for name in examples.motion.names])
        heights = [part.heights for part in sets if part.heights is not None and part.levels == self.levels]
        joined_heights = _JoinedShapes(heights) if len(heights) == len(sets) else None
        radii = {name: radius for examples in reversed(sets) for name, radius in examples.radii.items()}
        by_control = {name: radius for part in reversed(sets) for name, radius in part.control_radii.items()}
        shapes = _JoinedShapes([examples.shapes for examples in sets])
        return Examples(self.rig, motion, shapes, joined_heights, self.levels, radii, by_control)

    def residual(self, index: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the residual (N, 3) of example `index` in the rest shape, and which vertices (N,) were damped.

        Vertices that share a position at a seam get one common displacement, so that no crack opens there. The two
        sides of a sheet, such as hair, may come apart.
        """
        displacements, damped = self.rig.residual(self.motion[index], self.shapes[index])
        self.rig.mesh.shading.average(displacements)
        return displacements, damped


def require_examples(value: object) -> None:
    """Raise unless `value` is Examples of at least one pose; the message says how to open a path."""
    if not isinstance(value, Examples):
        remedy = "; open it with ps.Examples.open" if isinstance(value, str | Path) else ""
        raise InputError(f"examples: expected Examples, got a {type(value).__name__}{remedy}")
    if not len(value):
        raise InputError("examples: expected at least one pose, got none")


class _ChosenShapes:
    """Some shapes of a source, by number, fetched one at a time."""

    def __init__(self, fetch: Callable[[int], Floats], numbers: NDArray[np.integer]) -> None:
        self._fetch, self._numbers = fetch, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int, /) -> Floats:
        return self._fetch(int(self._numbers[index]))


class _JoinedShapes:
    """The shapes of several sources, one after the other."""

    def __init__(self, sources: Sequence[Shapes]) -> None:
        self._sources = [(source, index) for source in sources for index in range(len(source))]

    def __len__(self) -> int:
        return len(self._sources)

    def __getitem__(self, index: int, /) -> Floats:
        source, number = self._sources[index]
        return source[number]
