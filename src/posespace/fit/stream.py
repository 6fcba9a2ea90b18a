"""Residuals of examples, streamed in blocks of poses: the data may be larger than memory.

A fit needs a few poses, sums over all poses, or inner products with all poses. Residuals that fit into the memory limit
are kept; otherwise every pass computes them again. On a cluster each task sums over a fixed run of poses and the sums
are added in order, so that the result does not depend on the number of workers, or on those that fail.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Floats32
from posespace.cluster.machines import Machines
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.fit.residuals import residual_into
from posespace.progress import counter

SHARE = 0.25
"""Fraction of the machine's memory that a fit uses by default."""

TASKS = 8
"""Tasks that a pass is divided into on a cluster, whatever the number of workers."""

_BLOCK = 32
"""Most poses in memory at once where residuals are not kept."""


@dataclass(frozen=True)
class Resources:
    """Memory and processes that a fit may use.

    Parameters
    ----------
    memory : data to hold at once, e.g. "2GB", besides the result; None: a quarter of the machine's memory
    workers : number of local processes that pass over the data; 1: this process alone
    scheduler : address of a running Dask scheduler to use instead; its workers must see the store's folder; None: none
    """

    memory: str | None = None
    workers: int = 1
    scheduler: str | None = None

    def __post_init__(self) -> None:
        _ = self.bytes
        Machines(self.workers, self.scheduler)

    @property
    def bytes(self) -> int:
        """The memory in bytes."""
        if self.memory is None:
            return int(SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        for ending, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3), ("B", 1)):
            if self.memory.upper().endswith(ending):
                try:
                    size = float(self.memory[: -len(ending)]) * factor
                except ValueError:
                    break
                if size >= 1e6:
                    return int(size)
                break
        raise InputError(f"memory: expected a size of at least 1MB, e.g. 2GB, got {self.memory!r}")

    @property
    def alone(self) -> bool:
        """Whether this process does all the work."""
        return self.workers == 1 and self.scheduler is None


class Mix(NamedTuple):
    """A weighted sum over all poses: vertices (S,), a mask (S,) on them, and weights (M, P).

    Sums are in double precision if the weights are, as weights that cancel must be.
    """

    support: NDArray[np.int64]
    mask: Floats32
    weights: Floats


class Source:
    """Residuals (P, N, 3) of all examples, kept in memory or computed again for each pass.

    Parameters
    ----------
    examples : the poses and shapes
    resources : limits on memory and processes
    """

    def __init__(self, examples: Examples, resources: Resources | None = None) -> None:
        self._examples, self._resources = examples, resources or Resources()
        self._damped = 0

    def __len__(self) -> int:
        return len(self._examples)

    @property
    def damped(self) -> int:
        """Number of vertices, over all poses, damped because their blend nearly loses rank; known after a pass."""
        return self._damped

    @cached_property
    def _kept(self) -> Floats32 | None:
        """All residuals, if they fit into memory."""
        count, points = len(self), self._examples.rig.mesh.points
        if 12 * count * len(points) > self._resources.bytes:
            return None
        values = np.empty((count, *points.shape), dtype=np.float32)
        with counter("residuals") as advance:
            for index in range(count):
                self._damped += residual_into(self._examples, index, values[index])
                advance(index + 1, count)
        return values

    def some(self, poses: Sequence[int] | NDArray[np.integer]) -> Floats32:
        """Return the residuals (K, N, 3) of chosen poses."""
        if self._kept is not None:
            return rows(self._kept, poses)
        values = np.empty((len(poses), *self._examples.rig.mesh.points.shape), dtype=np.float32)
        for row, index in zip(values, poses, strict=True):
            residual_into(self._examples, int(index), row)
        return values

    def release(self) -> None:
        """Free the memory; residuals are computed again on demand."""
        self.__dict__.pop("_kept", None)
        self._damped = 0

    def combined(self, mixes: Sequence[Mix]) -> list[Floats32]:
        """Return the sum (M, S, 3) of each mix over all poses, in one pass."""
        totals = [np.zeros((len(mix.weights), len(mix.support), 3)) for mix in mixes]
        damped = 0
        for sums, low in self._passes(partial(_sums, mixes)):
            damped += low
            for number, part in enumerate(sums):
                totals[number] += part
        self._damped = self._damped if self._kept is not None else damped
        return _masked(mixes, totals)

    def products(self, basis: Floats32) -> Floats:
        """Return the inner products (P, K) of all poses with displacements (K, N, 3), in one pass."""
        return np.concatenate(list(self._passes(partial(_products, basis))))

    def _passes(self, work: Callable[[Examples | Floats32, NDArray[np.integer]], Any]) -> Iterator[Any]:
        """The results of `work` on each run of poses, in order."""
        every = np.arange(len(self))
        if self._resources.alone:
            step = max(1, min(_BLOCK, self._resources.bytes // (40 * max(1, len(self._examples.rig.mesh.points)))))
            runs = [every[start : start + step] for start in range(0, len(every), step)]
            with counter("passing over poses") as advance:
                for done, run in enumerate(runs):
                    yield work(self._kept if self._kept is not None else self._examples, run)
                    advance(done + 1, len(runs))
            return
        runs = [run for run in np.array_split(every, TASKS) if len(run)]
        with Machines(self._resources.workers, self._resources.scheduler).cluster() as client:
            shared = client.submit(_identity, (self._examples, work), pure=False)
            futures = [client.submit(_on_worker, shared, run, pure=False) for run in runs]
            for number, future in enumerate(futures):
                yield future.result()
                futures[number] = None


class Held:
    """Displacements (P, N, 3) that are in memory already, with the interface of a `Source`."""

    def __init__(self, values: Floats32) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def some(self, poses: Sequence[int] | NDArray[np.integer]) -> Floats32:
        """Return the residuals (K, N, 3) of chosen poses."""
        return rows(self._values, poses)

    def combined(self, mixes: Sequence[Mix]) -> list[Floats32]:
        """Return the sum (M, S, 3) of each mix over all poses."""
        return _masked(mixes, _sums(mixes, self._values, np.arange(len(self._values)))[0])


def rows(values: Floats32, poses: Sequence[int] | NDArray[np.integer]) -> Floats32:
    """Return chosen poses of displacements (P, N, 3); a view where they are consecutive."""
    chosen = np.asarray(poses)
    if len(chosen) and (np.diff(chosen) == 1).all():
        return values[int(chosen[0]) : int(chosen[-1]) + 1]
    copied: Floats32 = values[chosen]
    return copied


def _blocks(
    source: Examples | Floats32, run: NDArray[np.integer]
) -> Iterator[tuple[NDArray[np.integer], Floats32, int]]:
    """The residuals (B, N, 3) of a run of poses, in blocks: their indices, values, and number of damped vertices."""
    for start in range(0, len(run), _BLOCK):
        poses = run[start : start + _BLOCK]
        if isinstance(source, np.ndarray):
            yield poses, rows(source, poses), 0
            continue
        values, damped = np.empty((len(poses), *source.rig.mesh.points.shape), dtype=np.float32), 0
        for row, index in zip(values, poses, strict=True):
            damped += residual_into(source, int(index), row)
        yield poses, values, damped


def _sums(mixes: Sequence[Mix], source: Examples | Floats32, run: NDArray[np.integer]) -> tuple[list[Floats32], int]:
    """The sum of each mix over a run of poses, without its mask, and the number of damped vertices."""
    sums = [np.zeros((len(mix.weights), 3 * len(mix.support))) for mix in mixes]
    damped = 0
    for poses, values, low in _blocks(source, run):
        damped += low
        for number, mix in enumerate(mixes):
            part = np.take(values, mix.support, axis=1)
            sums[number] += mix.weights[:, poses] @ part.reshape(len(poses), -1)
    return [total.reshape(len(total), -1, 3).astype(np.float32) for total in sums], damped


def _masked(mixes: Sequence[Mix], sums: Sequence[Floats]) -> list[Floats32]:
    """The sum (M, S, 3) of each mix times its mask, which is the same for all poses."""
    return [(total * mix.mask[:, None]).astype(np.float32) for mix, total in zip(mixes, sums, strict=True)]


def _products(basis: Floats32, source: Examples | Floats32, run: NDArray[np.integer]) -> Floats:
    """The inner products (R, K) of a run of poses with displacements (K, N, 3)."""
    flat = basis.reshape(len(basis), -1)
    return np.concatenate(
        [(values.reshape(len(values), -1) @ flat.T).astype(np.float64) for _, values, _ in _blocks(source, run)]
    )


def _identity(value: Any) -> Any:
    return value


def _on_worker(
    shared: tuple[Examples, Callable[[Examples, NDArray[np.integer]], Any]], run: NDArray[np.integer]
) -> Any:
    examples, work = shared
    return work(examples, run)
