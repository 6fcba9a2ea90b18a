"""Machines: local processes with their share of cores and memory, or a Dask scheduler that runs already."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.killed import process_and_threads

from posespace.cluster import machines as module
from posespace.cluster.machines import Machines
from posespace.errors import InputError

distributed = pytest.importorskip("distributed")


@pytest.fixture
def scheduler() -> Iterator[Any]:
    """A Dask scheduler on this machine, that answers at a TCP address and has no worker yet."""
    with distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster


def test_local_processes_are_others_than_this_one_and_share_its_cores() -> None:
    machines = Machines(workers=2, memory="600MB")
    with machines.cluster() as client:
        answers = client.run(process_and_threads)
        limits = {worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()}
    processes = {number for number, _ in answers.values()}
    assert len(processes) == 2
    assert os.getpid() not in processes
    assert {threads for _, threads in answers.values()} == {str(max(1, (os.cpu_count() or 1) // 2))}
    assert limits == {600_000_000}


def test_a_running_scheduler_is_used(scheduler: Any) -> None:
    scheduler.scale(1)
    with Machines(scheduler=scheduler.scheduler_address).cluster() as client:
        assert client.scheduler.address == scheduler.scheduler_address
        assert client.submit(sum, [1, 2]).result() == 3
    assert scheduler.status.name == "running"


def test_a_scheduler_without_a_worker_is_reported_and_then_refused(scheduler: Any) -> None:
    warnings: list[str] = []
    address = scheduler.scheduler_address
    refused = pytest.raises(InputError, match="has no worker; start some: dask worker tcp://")
    with refused, Machines(scheduler=address, patience=0.02).cluster(warnings.append):
        pass
    assert warnings == [f"scheduler {address}: waiting for workers, 0.02 s at most; start some: dask worker {address}"]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "127.0.0.1:0"])
def test_a_scheduler_that_does_not_answer_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.5)
    with pytest.raises(InputError, match="cannot be reached"), Machines(scheduler=address).cluster():
        pass


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"workers": 0}, "workers: expected 1 to 1024, got 0"),
        ({"retries": -1}, "retries: expected 0 to 100, got -1"),
        ({"patience": float("inf")}, "patience: expected above 0 seconds, got inf"),
        ({"memory": "much"}, "memory: expected a size, e.g. 2GB, got 'much'"),
        ({"memory": "1MB"}, "memory: expected at least 400MB per worker, got '1MB'"),
        ({"memory": "2GB", "scheduler": "tcp://a:1"}, "memory: workers of a cluster have their own limit"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Machines(**settings)


def test_memory_is_shared_where_no_limit_is_set() -> None:
    assert Machines(workers=4).limit() == Machines().limit() // 4
    assert Machines(memory="2GB").limit() == 2_000_000_000
