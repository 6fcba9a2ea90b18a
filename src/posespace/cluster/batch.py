"""Many independent pieces of work on a Dask cluster: each comes back as it finishes, and a failed one stops no other.

Workers only compute. The process that started the run keeps the results, so a cluster needs no shared disk.
"""

from __future__ import annotations

import secrets
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Job = TypeVar("Job")


@dataclass(frozen=True)
class Failed:
    """A piece of work that no worker could do.

    Parameters
    ----------
    reason : in one line
    """

    reason: str


def finished(
    cluster: Any,
    work: Callable[[Job, int, Any], Any],
    job: Job,
    pieces: Iterable[tuple[int, Any]],
    retries: int,
    smaller: str,
) -> Iterator[tuple[int, Any]]:
    """Yield the number of each piece and what `work(job, number, piece)` returned, in the order in which they finish.

    Parameters
    ----------
    cluster : a Dask client
    work : a function that workers can import
    job : what all pieces share; it goes to each worker once
    pieces : with their numbers; each is taken shortly before it is worked on, so that they may be read as needed
    retries : how often a piece that raised an error is tried again
    smaller : for the message where memory runs out: what a user may use less of

    Returns
    -------
    pairs of a number and a result, which is `Failed` where `work` raised an error or its workers died
    """
    from distributed import as_completed

    run, waiting = secrets.token_hex(4), iter(pieces)
    # Not scattered: a task's result that dies with its worker is recomputed, scattered data is lost.
    shared = _submitted(cluster, _identity, job, key=f"job-{run}")
    running = as_completed()  # type: ignore[no-untyped-call]
    worker_of: dict[str, str] = {}

    def fill() -> None:
        for worker, (number, piece) in zip(_free_threads(cluster, worker_of), waiting, strict=False):
            key = f"piece-{number}-{run}"
            # Dask would send all to the worker that has the job, and blame those that wait there if it dies.
            settings = {"workers": [worker], "allow_other_workers": True} if worker else {}
            future = _submitted(cluster, work, shared, number, piece, key=key, retries=retries, pure=False, **settings)
            running.add(future)  # type: ignore[no-untyped-call]
            worker_of[key] = worker

    fill()
    for future in running:
        del worker_of[str(future.key)]
        yield int(str(future.key).split("-")[1]), _result(future, smaller)
        # The caller has the result: the cluster need not keep it.
        future.release()
        fill()


def _free_threads(cluster: Any, worker_of: Mapping[str, str]) -> Iterator[str]:
    """Yield for each thread without a piece its worker's address; "" where there is no worker at all and none runs.

    `worker_of` has the worker that each piece was sent to; where that died, Dask has chosen another.
    """
    moved = {str(key): worker for worker, keys in cluster.processing().items() for key in keys}
    pieces = Counter(moved.get(key, worker) for key, worker in worker_of.items())
    free = [worker for worker, threads in cluster.ncores().items() for _ in range(threads - pieces[worker])]
    yield from free or ([] if pieces else [""])


def _submitted(cluster: Any, *words: Any, **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Dask, about a large argument
        return cluster.submit(*words, **settings)


def _identity(job: Job) -> Job:
    return job


def _result(future: Any, smaller: str) -> Any:
    try:
        return future.result()
    except Exception as error:  # A piece whose worker died too often does not stop the rest.
        return Failed(_why(error, smaller))


def _why(error: Any, smaller: str) -> str:
    if type(error).__name__ == "KilledWorker":
        deaths = int(error.allowed_failures) + 1
        remedy = f"give each more memory, or use fewer workers or {smaller}"
        return f"its workers died, {deaths} in all; if for lack of memory, {remedy}"
    return f"its worker failed ({type(error).__name__}: {(str(error).splitlines() or ['no message'])[0]})"
