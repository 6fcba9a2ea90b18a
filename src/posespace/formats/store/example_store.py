"""The example store: a Zarr v3 folder, one plain chunk per pose, written by many processes at once.

Chunks are uncompressed, so a shape is a file that is mapped, not read. A pose counts once its mark is there; the mark
is written last and holds the shape's checksum, so a killed writer loses only the pose it was writing. What the poses
are, and which chunk each has, is a `StoreState`; `journal` replaces it by another.
"""

from __future__ import annotations

import os
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files, records
from posespace.formats.checked_json import Fields
from posespace.formats.store.state import StoreState, head_version, read_state
from posespace.formats.store.zarr_arrays import ArrayForm, map_group, read_group, write_store
from posespace.geometry.subdivision import MOST_LEVELS, fine_vertex_count
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.sculpt import Radii

_MARKED = 1 << 32
_MARK_BYTES = 8
_MOST_NOTE = 10_000
# A process may only hold a limited number of maps (65,530 on Linux), and what is mapped counts as its memory.
_MOST_MAPS = 10_000
_MOST_MAPPED = 1 << 28


@dataclass(frozen=True, eq=False)
class ExampleStore:
    """A store on disk: a rig, the poses asked for, and the shapes that are finished.

    Parameters
    ----------
    path : the folder
    rig : the rig all shapes belong to
    motion : every pose of the store, finished or not
    made : the settings that decide its shapes, by name; empty where they are not recorded
    levels : subdivisions of the rig's mesh on which each shape has heights of detail; None: they have none
    rows : the chunk of each pose; None: in their order, as in a store whose sculpts were never changed
    muted : names of sculpts that fits ignore
    radii : the reach of single sculpts, by name
    control_radii : the reach of all, by joint, control or layer
    """

    path: Path
    rig: Rig
    motion: Motion
    made: Mapping[str, Any] = field(default_factory=dict)
    levels: int | None = None
    rows: tuple[int, ...] | None = None
    muted: frozenset[str] = frozenset()
    radii: Mapping[str, float] = field(default_factory=dict)
    control_radii: Radii = field(default_factory=dict)
    _mapped: dict[int, Floats] = field(default_factory=dict, repr=False)
    _verified: set[int] = field(default_factory=set, repr=False)

    @classmethod
    def create(
        cls,
        path: str | Path,
        rig: Rig,
        motion: Motion,
        resume: bool = False,
        made: Mapping[str, str | float | bool] | None = None,
        levels: int | None = None,
        radii: Mapping[str, float] | None = None,
    ) -> ExampleStore:
        """Make an empty store for the shapes of `motion`; it appears whole or not at all.

        With `resume`, a store of the same rig, poses and settings `made` that exists already is opened and continued.
        """
        target = Path(path)
        if resume and target.exists():
            return cls.open(target)._same(rig, motion, made or {}, levels)
        if target.exists():
            raise FileError(target, "exists already; remove it, or choose another output")
        kept = _known(radii or {}, motion)
        with files.atomic_folder(target) as temporary:
            _write_empty(temporary, rig, motion, made or {}, levels, kept, {})
        return cls(target, rig, motion, made or {}, levels, radii=kept)

    @classmethod
    @contextmanager
    def whole(
        cls,
        path: str | Path,
        rig: Rig,
        motion: Motion,
        levels: int | None = None,
        radii: Mapping[str, float] | None = None,
        control_radii: Radii | None = None,
    ) -> Iterator[ExampleStore]:
        """Yield an empty store that the block writes all shapes to: it appears when all are there, or not at all."""
        target = Path(path)
        if target.exists():
            raise FileError(target, "exists already; remove it, or choose another output")
        kept = _known(radii or {}, motion)
        with files.atomic_folder(target) as temporary:
            _write_empty(temporary, rig, motion, {}, levels, kept, control_radii or {})
            yield cls(temporary, rig, motion, {}, levels, radii=kept, control_radii=control_radii or {})

    @classmethod
    def open(cls, path: str | Path) -> ExampleStore:
        """Open a store; the rig and the poses are checked, shapes when they are first read."""
        folder = Path(path)
        about = read_group(folder).get("posespace")
        with files.naming(folder):
            arrays: records.Arrays = {}
            head = records.Record(about, arrays)
            head.require("examples", head_version(head))
            # Copied: a player goes by the rig's indices, and a map shows whatever happens to its file later.
            arrays |= {name: np.array(array) for name, array in map_group(folder, "rig").items()}
            rig = records.read_rig(head.record("rig"))
            state = read_state(folder, head.part("motion"), len(rig.skeleton))
            made = head.part("made", {}).values
            levels = head.integer("levels", below=MOST_LEVELS + 1) if "levels" in head else None
        radii = state.radii, state.control_radii
        return cls(folder, rig, state.motion, made, levels, state.rows, state.muted, *radii)

    def _same(self, rig: Rig, motion: Motion, made: Mapping[str, Any], levels: int | None) -> ExampleStore:
        """Return this store if it is for that rig and those poses, and no recorded setting differs."""
        same = (
            self.motion.names == motion.names
            and np.array_equal(self.motion.rotations, motion.rotations)
            and np.array_equal(self.motion.controls, motion.controls)
            and np.array_equal(self.rig.mesh.points, rig.mesh.points)
        )
        if not same:
            raise FileError(self.path, "holds other poses or another rig; choose another output or remove it")
        for name, value in made.items():
            if name in self.made and self.made[name] != value:
                was = f"was made with {name} {self.made[name]}, now {name} is {value}"
                raise FileError(self.path, f"{was}; give the same, choose another output or remove it")
        if self.levels != levels:
            was = f"holds detail on {self.levels} levels, now on {levels}"
            raise FileError(self.path, f"{was}; give the same, choose another output or remove it")
        return self

    def reposed(self, motion: Motion) -> ExampleStore:
        """Replace the poses of the store by others of the same names; its shapes stay. Not while others write to it."""
        token = secrets.token_hex(4)
        fresh, old = (self.path.with_name(f".{self.path.name}.{token}.{kind}") for kind in ("part", "old"))
        try:
            ExampleStore.create(fresh, self.rig, motion, made=self.made, levels=self.levels)
            if self.rows is not None:
                raise FileError(self.path, "its sculpts were changed since it was made; make it anew to pose it again")
            for part in ("shapes", "marks", "heights", "failures"):
                if (self.path / part).is_dir():
                    shutil.copytree(self.path / part, fresh / part, dirs_exist_ok=True)
            os.rename(self.path, old)
            os.rename(fresh, self.path)
        except OSError as error:
            raise FileError(self.path, f"cannot be written ({error.strerror or error})") from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
        return ExampleStore.open(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        """A process that gets a store opens it by itself: maps of files do not travel."""
        return ExampleStore.open, (self.path.resolve(),)

    def __len__(self) -> int:
        return len(self.motion)

    def finished(self) -> NDArray[np.bool_]:
        """Return (P,) which poses have their shape by now."""
        try:
            there = set(os.listdir(files.inside(self.path, "marks", "c")))
        except OSError:  # no pose is finished yet
            there = set()
        numbers = range(len(self))
        return np.array([self._row(k) in there and self._mark(k) is not None for k in numbers], dtype=bool)

    def written_at(self, index: int) -> float:
        """Return when the shape of pose `index` was finished, in seconds since the epoch; 0 if it is not."""
        return self._mark_file(index).stat().st_mtime if self._mark(index) is not None else 0.0

    def write(self, index: int, points: ArrayLike, heights: ArrayLike | None = None) -> None:
        """Store the shape (N, 3) of pose `index`, then mark it finished. Safe while others write other poses.

        Where the store has `levels`, the heights (M,) of the shape's detail go with it.
        """
        if not 0 <= index < len(self):
            raise InputError(f"pose {index}: expected 0 to {len(self) - 1}")
        name = f"shape of pose {self.motion.names[index]!r}"
        shape = check.floats(name, points, self.rig.mesh.points.shape)
        chunk = np.ascontiguousarray(check.floats(name, shape.astype("<f4"), shape.shape)).tobytes()
        self._mapped.pop(index, None)
        self._verified.discard(index)
        self._replace(self._chunk(index), chunk)
        digest = zlib.crc32(chunk)
        if self.levels is not None:
            if heights is None:
                raise InputError(f"{name}: expected heights of detail with it, as this store has them")
            fine = check.floats(f"heights of pose {self.motion.names[index]!r}", heights, (self._fine,), check.LARGEST)
            encoded = np.ascontiguousarray(fine, dtype="<f4").tobytes()
            self._replace(self._heights_file(index), encoded)
            digest = zlib.crc32(encoded, digest)
        self._failure(index).unlink(missing_ok=True)
        self._replace(self._mark_file(index), (_MARKED + digest).to_bytes(_MARK_BYTES, "little"))

    def fail(self, index: int, reason: str) -> None:
        """Note why the shape of pose `index` could not be made; storing the shape removes the note."""
        self._replace(self._failure(index), reason.encode())

    def failures(self) -> dict[str, str]:
        """Return the reason by pose name of each pose that failed."""
        try:
            there = set(os.listdir(files.inside(self.path, "failures")))
        except OSError:  # none has failed
            there = set()
        names = enumerate(self.motion.names)
        notes = {name: self._failure(index) for index, name in names if f"{self._row(index)}.txt" in there}
        return {name: files.read_text(path, _MOST_NOTE) for name, path in notes.items()}

    def shape(self, index: int) -> Floats:
        """Return the finished shape (N, 3) of pose `index`: a read-only view of its mapped file.

        Its checksum is verified the first time; the map is kept for the next, as long as there are not too many.
        """
        if index not in self._mapped:
            if len(self._mapped) >= min(_MOST_MAPS, _MOST_MAPPED // max(1, self.rig.mesh.points.size * 4)):
                self._mapped.clear()
            self._mapped[index] = self._map(index)
        return self._mapped[index]

    def _map(self, index: int) -> Floats:
        mark, name = self._mark(index), self.motion.names[index]
        if mark is None:
            raise FileError(self.path, f"pose {name!r} is not finished")
        path, shape = self._chunk(index), self.rig.mesh.points.shape
        try:
            mapped = files.map_file(path, np.dtype("<f4"), shape)
        except FileError as error:
            raise FileError(path, f"the shape of pose {name!r} {error.problem}") from error
        if index not in self._verified:
            digest = zlib.crc32(mapped.data)
            if self.levels is not None:
                digest = zlib.crc32(self._map_heights(index).data, digest)
            if digest != mark - _MARKED:
                raise FileError(path, f"the shape of pose {name!r} is damaged (its checksum differs)")
        self._verified.add(index)
        return mapped

    def heights(self, index: int) -> Floats:
        """Return the heights (M,) of the detail of pose `index`: a read-only view of its mapped file."""
        if self.levels is None:
            raise FileError(self.path, "holds no heights of detail")
        # With the shape, the checksum of both is verified.
        self.shape(index)
        return self._map_heights(index)

    @cached_property
    def _fine(self) -> int:
        """Vertices of the subdivided mesh."""
        return fine_vertex_count(self.rig.mesh.triangles, len(self.rig.mesh.points), self.levels or 0)

    def _map_heights(self, index: int) -> Floats:
        try:
            return files.map_file(self._heights_file(index), np.dtype("<f4"), (self._fine,))
        except FileError as error:
            name = self.motion.names[index]
            raise FileError(error.path, f"the heights of pose {name!r}: {error.problem}") from error

    def _row(self, index: int) -> str:
        """The name of the chunk of pose `index`."""
        return str(index if self.rows is None else self.rows[index])

    def _heights_file(self, index: int) -> Path:
        return files.inside(self.path, "heights", "c", self._row(index), "0")

    def _chunk(self, index: int) -> Path:
        return files.inside(self.path, "shapes", "c", self._row(index), "0", "0")

    def _failure(self, index: int) -> Path:
        return files.inside(self.path, "failures", f"{self._row(index)}.txt")

    def _mark_file(self, index: int) -> Path:
        return files.inside(self.path, "marks", "c", self._row(index))

    def _mark(self, index: int) -> int | None:
        """Return the mark of pose `index`; None where there is none yet, or one that a power cut left unwritten."""
        path = self._mark_file(index)
        if not path.exists():
            return None
        with files.opened(path) as (handle, size):
            value = int.from_bytes(handle.read(_MARK_BYTES), "little") if size == _MARK_BYTES else 0
        return value if value >= _MARKED else None

    def _replace(self, path: Path, content: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(self.path, f"cannot be written ({error.strerror or error})") from error
        with files.atomic_write(path) as temporary:
            temporary.write_bytes(content)


def _write_empty(
    folder: Path,
    rig: Rig,
    motion: Motion,
    made: Mapping[str, Any],
    levels: int | None,
    radii: Mapping[str, float],
    control_radii: Radii,
) -> None:
    """Write a store without shapes to an empty folder."""
    if motion.rotations.shape[1] != len(rig.skeleton):
        got = motion.rotations.shape[1]
        raise InputError(f"motion: expected {len(rig.skeleton)} joints as in the rig, got {got}")
    writer = records.Writer()
    state = StoreState(motion, tuple(range(len(motion))), radii=radii, control_radii=control_radii)
    about: records.Json = {
        "kind": "examples",
        "version": 1,
        "rig": records.write_rig(rig, writer, "rig"),
        "motion": state.write(writer),
        **({"made": dict(made)} if made else {}),
        **({"levels": levels} if levels is not None else {}),
    }
    about["version"] = head_version(Fields(about, "the file"))
    write_store(folder, {"posespace": about}, writer.arrays, chunk_forms(rig, len(motion), levels))


def chunk_forms(rig: Rig, count: int, levels: int | None) -> dict[str, ArrayForm]:
    """Return the arrays of `count` shapes, one chunk per pose, by name."""
    points = len(rig.mesh.points)
    forms: dict[str, ArrayForm] = {
        "shapes": ((count, points, 3), (1, points, 3), np.dtype("<f4")),
        "marks": ((count,), (1,), np.dtype("<u8")),
    }
    if levels is not None:
        fine = fine_vertex_count(rig.mesh.triangles, points, levels)
        forms["heights"] = ((count, fine), (1, fine), np.dtype("<f4"))
    return forms


def _known(radii: Mapping[str, float], motion: Motion) -> dict[str, float]:
    """The radii of poses that there are."""
    return {name: radii[name] for name in motion.names if name in radii}
