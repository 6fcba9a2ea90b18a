"""Pieces of work on a cluster: results as they finish, failures that stop no other, runs that are continued."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.killed import killed

from posespace.cluster.batch import Failed, finished
from posespace.cluster.machines import Machines

FIRST, SECOND = 0, 1
TRIES: Counter[int] = Counter()
MAY_END = threading.Event()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two workers that are threads of this process."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


def product(job: int, number: int, piece: int) -> tuple[int, int]:
    return number, job * piece


def waiting(_: None, number: int, __: None) -> int:
    if number == FIRST:
        MAY_END.wait()
    return number


def odd_ones_fail(_: None, number: int, __: None) -> int:
    TRIES[number] += 1
    if number % 2:
        raise ValueError(f"{number} is odd\nand more lines")
    return number


def first_try_fails(_: None, number: int, __: None) -> int:
    TRIES[number] += 1
    if TRIES[number] == 1:
        raise ValueError("not yet")
    return number


def test_every_piece_is_worked_on_with_what_all_share(client: Any) -> None:
    pieces = {3: 30, 7: 70, 8: 80}
    results = dict(finished(client, product, 2, pieces.items(), 0, "fewer"))
    assert results == {3: (3, 60), 7: (7, 140), 8: (8, 160)}


def test_results_come_in_the_order_in_which_they_finish(client: Any) -> None:
    MAY_END.clear()
    results = finished(client, waiting, None, [(FIRST, None), (SECOND, None)], 0, "fewer")
    assert next(results) == (SECOND, SECOND)
    MAY_END.set()
    assert next(results) == (FIRST, FIRST)


def test_a_piece_that_fails_stops_no_other_and_gives_its_reason_in_one_line(client: Any) -> None:
    TRIES.clear()
    results = dict(finished(client, odd_ones_fail, None, ((k, None) for k in range(6)), 1, "fewer"))
    assert {number for number, result in results.items() if result == number} == {0, 2, 4}
    assert results[3] == Failed("its worker failed (ValueError: 3 is odd)")
    assert TRIES == {0: 1, 2: 1, 4: 1, 1: 2, 3: 2, 5: 2}


def test_a_piece_that_failed_is_tried_again(client: Any) -> None:
    TRIES.clear()
    assert dict(finished(client, first_try_fails, None, [(5, None)], 1, "fewer")) == {5: 5}


def test_pieces_are_read_as_they_are_needed(client: Any) -> None:
    read: list[int] = []

    def pieces() -> Iterator[tuple[int, int]]:
        for number in range(20):
            read.append(number)
            yield number, number

    results = finished(client, product, 1, pieces(), 0, "fewer")
    next(results)
    assert len(read) == 2  # one for each thread
    assert len(list(results)) == 19
    assert len(read) == 20


def test_a_run_that_was_stopped_is_continued_with_the_pieces_that_are_left(client: Any) -> None:
    stored: dict[int, Any] = {}
    results = finished(client, product, 1, ((k, k) for k in range(9)), 0, "fewer")
    for number, result in results:
        stored[number] = result
        if len(stored) == 3:
            results.close()  # type: ignore[attr-defined]
    left = [(k, k) for k in range(9) if k not in stored]
    continued = dict(finished(client, product, 1, left, 0, "fewer"))
    assert continued.keys() == set(range(9)) - stored.keys()
    assert stored | continued == {k: (k, k) for k in range(9)}


def test_a_piece_that_kills_its_process_stops_no_other() -> None:
    machines = Machines(workers=2, retries=1)
    pieces = [(number, "dies" if number == 0 else "lives") for number in range(8)]
    with machines.cluster() as client:
        results = dict(finished(client, killed, None, pieces, machines.retries, "fewer elements"))
    assert [results[number] for number in range(1, 8)] == ["lives"] * 7
    remedy = "if for lack of memory, give each more memory, or use fewer workers or fewer elements"
    assert results[0] == Failed(f"its workers died, 2 in all; {remedy}")
