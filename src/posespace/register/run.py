"""Registration of files of scans into an example store; each scan is stored as soon as it is registered."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace.cluster import batch
from posespace.cluster.machines import Machines
from posespace.errors import FileError, InputError
from posespace.formats import load
from posespace.formats.contents import Contents
from posespace.formats.files import naming, size_of
from posespace.formats.landmarks import LandmarkFile, Spots, read_landmarks
from posespace.formats.store.example_store import ExampleStore
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.progress import counter, status
from posespace.register.registration import FIGURES, Registered, Registrar, Registration
from posespace.register.rig_poses import rig_poses
from posespace.register.starts import Starts


@dataclass(frozen=True)
class ScanFiles:
    """The files that a registration reads.

    Parameters
    ----------
    template : a mesh or rig
    scans : meshes
    landmarks : of the template and of each scan
    start : a store of the same template: each scan starts from the shape there whose landmarks are nearest; or None
    """

    template: Path
    scans: Sequence[Path]
    landmarks: Path
    start: Path | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """What every worker needs to register any scan."""

    template: Mesh
    landmarks: Spots
    settings: Registration
    starts: Starts | None = None


@dataclass(frozen=True, eq=False)
class Scan:
    """A scan, its name and its landmarks."""

    name: str
    mesh: Mesh
    landmarks: Spots


@dataclass(frozen=True)
class Row:
    """The result of one scan.

    Parameters
    ----------
    name : of the scan
    file : its file
    figures : of its registration; empty where it failed
    notes : one line each
    reason : why it failed; "" where it did not
    """

    name: str
    file: str
    figures: dict[str, Any]
    notes: list[str]
    reason: str = ""


def register_files(
    files: ScanFiles,
    out: Path,
    settings: Registration,
    machines: Machines,
    resume: bool = False,
    warn: Callable[[str], None] | None = None,
) -> list[Row]:
    """Register scans, write the store, and return a row for each scan.

    Bad input that concerns all scans is refused before the long work begins. A scan that fails is left out of the
    store, with its reason there; with `resume`, those that are not finished are done again.
    """
    if out.exists() and not resume:
        raise FileError(out, "exists already; remove it, or continue it with `resume`")
    template, scans = files.template, files.scans
    names, marks = _names(scans), read_landmarks(files.landmarks)
    _require_files(scans, names, marks, out)
    rig = load.rig_or_mesh(_read(template))
    with naming(template), status("preparing the template"):
        Registrar(rig.mesh, marks.template, settings)
    starts = None if files.start is None else Starts.open(files.start, rig.mesh)
    poses = ExampleStore.open(out).motion if out.exists() else None
    if poses is None or poses.names != names:
        poses = Motion.from_poses([rig.rest] * len(names), list(names))
    store = ExampleStore.create(out, rig, poses, resume, _settings_record(marks, settings, starts), settings.levels)
    log = _Log(out.with_name(out.name + ".log"), fresh=not store.finished().any())
    unfinished = np.flatnonzero(~store.finished()).tolist()
    if unfinished:
        with machines.cluster(warn) as client, counter("registering scans") as advance:
            done = itertools.count(len(store) - len(unfinished) + 1)

            def keep(index: int, outcome: Registered | batch.Failed) -> None:
                log.add(_kept(store, index, outcome, Row(names[index], str(scans[index]), {}, [])))
                advance(next(done), len(store))

            job, pieces = Job(rig.mesh, marks.template, settings, starts), _opened(unfinished, scans, marks, keep)
            for index, outcome in batch.finished(client, work, job, pieces, machines.retries, "a smaller template"):
                keep(index, outcome)
    if len(rig.skeleton) > 1 and store.finished().any():
        _pose(store)
    return [log.rows.get(name, Row(name, str(file), {}, [])) for name, file in zip(names, scans, strict=True)]


def work(job: Job, _: int, scan: Scan) -> Registered | batch.Failed:
    """Register one scan on a worker."""
    registrar, starts = _registrar(job), job.starts
    try:
        which = None if starts is None else starts.nearest(registrar, scan.mesh, scan.landmarks, scan.name)
        if starts is None or which is None:
            return registrar.register(scan.mesh, scan.landmarks)
        registered = registrar.starting_from(starts.shapes[which]).register(scan.mesh, scan.landmarks)
        return replace(registered, notes=[*registered.notes, f"it was started from {starts.names[which]!r}"])
    except InputError as error:
        return batch.Failed(str(error))


_READY: dict[int, tuple[Job, Registrar]] = {}


def _registrar(job: Job) -> Registrar:
    """The registrar of a job in this process, set up once."""
    if id(job) not in _READY:
        _READY.clear()
        _READY[id(job)] = job, Registrar(job.template, job.landmarks, job.settings)
    return _READY[id(job)][1]


def _kept(store: ExampleStore, index: int, outcome: Registered | batch.Failed, row: Row) -> Row:
    if isinstance(outcome, batch.Failed):
        store.fail(index, outcome.reason)
        return Row(row.name, row.file, {}, [], outcome.reason)
    store.write(index, outcome.points, outcome.heights)
    alignment = outcome.alignment
    position = {"rotation": alignment.rotation.tolist(), "translation": alignment.translation.tolist()}
    return Row(row.name, row.file, outcome.figures | position, outcome.notes)


def _opened(
    indices: Sequence[int], scans: Sequence[Path], marks: LandmarkFile, keep: Callable[[int, batch.Failed], None]
) -> Iterator[tuple[int, Scan]]:
    """Yield each scan that can be read with its landmarks, and tell `keep` why the others cannot."""
    for index in indices:
        try:
            scan = Scan(scans[index].stem, load.load_mesh(scans[index]), marks.of(scans[index]))
        except InputError as error:
            keep(index, batch.Failed(error.problem if isinstance(error, FileError) else str(error)))
        else:
            yield index, scan


def _require_files(scans: Sequence[Path], names: Sequence[str], marks: LandmarkFile, out: Path) -> None:
    """Raise where a scan that is not stored yet has no file or no landmarks."""
    stored: set[str] = set()
    if out.exists():
        store = ExampleStore.open(out)
        stored = {name for name, done in zip(store.motion.names, store.finished(), strict=True) if done}
    for scan, name in zip(scans, names, strict=True):
        if name not in stored:
            size_of(scan)
            marks.of(scan)


def _read(path: Path) -> Contents:
    """What the template's file holds; of its clips none."""
    return load.read(path, load.NO_MOTIONS)


def _names(scans: Sequence[Path]) -> tuple[str, ...]:
    stems = [scan.stem for scan in scans]
    for stem in stems:
        if stems.count(stem) > 1:
            raise InputError(f"scans: two are called {stem!r}; rename one, for examples go by the names of their files")
    return tuple(stems)


def _pose(store: ExampleStore) -> None:
    """Give each shape of a rig the pose it is nearest to; those that are not finished stay at rest."""
    rig, done = store.rig, store.finished()
    shapes = (store.shape(k) if done[k] else rig.mesh.points for k in range(len(store)))
    store.reposed(rig_poses(rig, shapes, store.motion.names))


def _settings_record(
    marks: LandmarkFile, settings: Registration, starts: Starts | None
) -> dict[str, str | float | bool]:
    """What the shapes depend on besides template and scans. Landmarks of scans may be corrected between runs."""
    digest = hashlib.sha256(json.dumps(sorted(marks.template.items())).encode()).hexdigest()[:16]
    record: dict[str, str | float | bool] = {"landmarks of the template": digest}
    if starts is not None:
        record["starts"] = starts.digest
    decisive = {name: value for name, value in asdict(settings).items() if name != "force"}
    return record | {name: "none" if value is None else value for name, value in decisive.items()}


_OLD_KEYS = {"mean distance": "mean_distance", "95 % within": "p95_distance", "shift": "translation"}
"""Keys of figures in logs of older versions."""


class _Log:
    """The rows of a store's scans in a file beside it, one JSON object per line; the last of a name counts."""

    def __init__(self, path: Path, fresh: bool) -> None:
        self._path = path
        self.rows: dict[str, Row] = {}
        if fresh:
            path.unlink(missing_ok=True)
        elif path.exists():
            for line in path.read_text(errors="replace").splitlines():
                self._take(line)

    def _take(self, line: str) -> None:
        try:
            row = Row(**json.loads(line))
            row = replace(row, figures={_OLD_KEYS.get(key, key): value for key, value in row.figures.items()})
        except (ValueError, TypeError, AttributeError):  # A line that was cut short by whatever ended the run.
            return
        if row.reason or all(key in row.figures for key in FIGURES):
            self.rows[row.name] = row

    def add(self, row: Row) -> None:
        self.rows[row.name] = row
        with self._path.open("a") as handle:
            handle.write(json.dumps(asdict(row)) + "\n")
