"""Pointers in compiled code: what they read and write, with typed pointers of LLVM and with opaque ones."""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import ir
from numba import njit
from numba.core.errors import TypingError

from posespace.runtime import compiled
from posespace.runtime.cpu.lanes import LANES, load, scatter, store
from posespace.runtime.pointers import after, pointer, pointing_to


@njit
def _moved(values: np.ndarray, rows: np.ndarray, out: np.ndarray, mixed: np.ndarray) -> float:
    """Write three times eight numbers from the third on as points, in order to `out` and by rows to `mixed`."""
    here = after(pointer(values), 2)
    x, y, z = load(here, 0), load(here, 8), load(here, 16)
    store(pointer(out), 0, x, y, z)
    scatter(pointer(mixed), pointer(rows), 0, x, y, z)
    return here[1]


@pytest.mark.parametrize("kind", [np.float32, np.int16, np.int8])
def test_numbers_are_read_in_any_type_and_written_in_any_order(kind: type[np.generic]) -> None:
    values = np.arange(2 + 3 * LANES).astype(kind)
    rows = np.random.default_rng(0).permutation(LANES).astype(np.int32)
    out, mixed = (np.zeros((LANES, 3), np.float32) for _ in range(2))
    assert _moved(values, rows, out, mixed) == 3.0
    np.testing.assert_array_equal(out, values[2:].reshape(3, LANES).T)
    np.testing.assert_array_equal(mixed[rows], out)


def test_an_array_with_gaps_has_no_pointer() -> None:
    rows, out = np.arange(LANES, dtype=np.int32), np.zeros((LANES, 3), np.float32)
    with pytest.raises(TypingError, match="expected a contiguous array"):
        _moved(np.zeros(100, np.float32)[::2], rows, out, out)


@pytest.mark.parametrize(("kind", "cast"), [(ir.FloatType().as_pointer(), True), (ir.PointerType(), False)])
def test_only_typed_pointers_are_cast(kind: ir.PointerType, cast: bool) -> None:
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [kind]), "f")
    builder = ir.IRBuilder(function.append_basic_block())
    eight = ir.VectorType(ir.FloatType(), LANES)
    place = builder.gep(function.args[0], [ir.IntType(64)(2)], source_etype=ir.FloatType())
    found = builder.load(pointing_to(builder, place, eight), align=1, typ=eight)
    assert found.type == eight
    assert ("bitcast" in str(function)) == cast


def test_nothing_is_asked_of_numba_that_it_keeps_to_itself() -> None:
    for how in (compiled.compiled, compiled.relaxed, compiled.inlined, compiled.inlined_exactly, compiled.on_all_cores):
        made = how(lambda x: x)
        assert not [name for name in made.targetoptions if name.startswith("_")]  # type: ignore[attr-defined]
