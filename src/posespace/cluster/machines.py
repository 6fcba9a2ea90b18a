"""The machines that long work runs on: processes of this machine, or a running Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from posespace.errors import InputError, require

_LEAST_MEMORY = 400_000_000
"""Bytes that a worker needs before it has solved anything."""

_PATIENCE = 10.0
_SILENCE = 5.0
"""Seconds until a scheduler must have answered, and until the wait for its first worker is reported."""


@dataclass(frozen=True)
class Machines:
    """The machines that long work, such as solving poses or registering scans, runs on.

    Parameters
    ----------
    workers : local processes of one thread each, 1 to 1024
    scheduler : address of a running Dask scheduler, which is used instead; its workers have their own limits
    memory : what a local process may use before it is ended, e.g. "2GB"; None: its share of this machine's memory
    retries : how often a piece of work is retried after its worker died, 0 to 100
    patience : seconds to wait for a scheduler's first worker, above 0
    """

    workers: int = 1
    scheduler: str | None = None
    memory: str | None = None
    retries: int = 3
    patience: float = 60.0

    def __post_init__(self) -> None:
        if not 1 <= self.workers <= 1024:
            raise InputError(f"workers: expected 1 to 1024, got {self.workers}")
        if not 0 <= self.retries <= 100:
            raise InputError(f"retries: expected 0 to 100, got {self.retries}")
        if not 0 < self.patience < math.inf:
            raise InputError(f"patience: expected above 0 seconds, got {self.patience}")
        if self.memory is not None and self.scheduler is not None:
            raise InputError("memory: workers of a cluster have their own limit; set it where they are started")
        if self.memory is not None:
            self.limit()

    def limit(self) -> int:
        """Return the bytes that a local process may use."""
        if self.memory is None:
            system = require("distributed.system", "cluster", "using many processes")
            return int(system.MEMORY_LIMIT / self.workers)
        parse = require("dask.utils", "cluster", "using many processes").parse_bytes
        try:
            limit = int(parse(self.memory))
        except ValueError:
            raise InputError(f"memory: expected a size, e.g. 2GB, got {self.memory!r}") from None
        if limit < _LEAST_MEMORY:
            raise InputError(f"memory: expected at least {_LEAST_MEMORY // 10**6}MB per worker, got {self.memory!r}")
        return limit

    @contextmanager
    def cluster(self, warn: Callable[[str], None] | None = None) -> Iterator[Any]:
        """Yield a Dask client of these machines; `warn` is called when a scheduler has no worker yet."""
        with self._local() if self.scheduler is None else _client_of(self.scheduler) as client:
            if self.scheduler is not None:
                self._wait_for_worker(client, warn)
            yield client

    def _wait_for_worker(self, client: Any, warn: Callable[[str], None] | None) -> None:
        remedy = f"start some: dask worker {self.scheduler}"
        silence = min(_SILENCE, self.patience / 2)
        try:
            client.wait_for_workers(1, timeout=silence)
        except TimeoutError:
            if warn is not None:
                warn(f"scheduler {self.scheduler}: waiting for workers, {self.patience:g} s at most; {remedy}")
            try:
                client.wait_for_workers(1, timeout=self.patience - silence)
            except TimeoutError:
                raise InputError(f"scheduler {self.scheduler}: has no worker; {remedy}") from None

    @contextmanager
    def _local(self) -> Iterator[Any]:
        distributed = require("distributed", "cluster", "using many processes")
        dask = require("dask", "cluster", "using many processes")
        threads = str(max(1, (os.cpu_count() or 1) // self.workers))
        pinned = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        settings = {
            "distributed.scheduler.allowed-failures": self.retries,
            # Queued work must not be blamed for the death of a worker that does other work.
            "distributed.scheduler.worker-saturation": 1.0,
            # Work in progress cannot give memory back: a worker that pauses would wait forever.
            "distributed.worker.memory.target": False,
            "distributed.worker.memory.spill": False,
            "distributed.worker.memory.pause": False,
        }
        with dask.config.set(settings), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            local = distributed.LocalCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                env=dict.fromkeys(pinned, threads),
                memory_limit=self.limit(),
                silence_logs=logging.CRITICAL,
            )
            with local, distributed.Client(local) as client:
                yield client


async def _answer(scheduler: str) -> None:
    """Wait for any answer of a scheduler."""
    distributed = require("distributed", "cluster", "using many processes")
    async with distributed.rpc(scheduler) as remote:
        await remote.identity()


@contextmanager
def _client_of(scheduler: str) -> Iterator[Any]:
    """Yield a client of the cluster at an address, which must answer."""
    distributed = require("distributed", "cluster", "using many processes")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        # A client waits forever at a port that is open but silent.
        asyncio.run(asyncio.wait_for(_answer(scheduler), _PATIENCE))
        client = distributed.Client(scheduler, timeout=_PATIENCE)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"scheduler {scheduler}: cannot be reached ({reason}); is it running?") from error
    with client:
        yield client
