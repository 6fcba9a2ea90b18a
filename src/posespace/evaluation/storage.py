"""What a skin stores, excluding its rig: the one place that counts bytes and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from posespace.interpolate.fitted import RBFInterpolant
from posespace.skin.driver import Driver
from posespace.skin.skin import Posable, Skin


class Stored(Protocol):
    """An array, or a packed one."""

    @property
    def nbytes(self) -> int:
        """Bytes it takes."""
        ...

    @property
    def size(self) -> int:
        """Numbers it stands for."""
        ...


def stored_bytes(skin: Posable) -> int:
    """Return the bytes of learned bones, of the bases, their supports and the tables that drive them, excluding the
    rig."""
    return sum(int(array.nbytes) for array in _stored(skin))


def stored_numbers(skin: Posable) -> int:
    """Return how many numbers these bytes hold."""
    return sum(int(array.size) for array in _stored(skin))


def _stored(skin: Posable) -> Iterator[Stored]:
    if not isinstance(skin, Skin):
        rival: Any = skin
        yield from rival.tables
        return
    yield from skin.bones.stored().arrays.values()
    for layer in skin.layers:
        yield layer.support
        yield layer.basis
        if layer.normal_basis is not None:
            yield layer.normal_basis
    if skin.detail is not None:
        yield skin.detail.heights
        if skin.detail.scales is not None:
            yield skin.detail.scales
    for driver in skin.drivers:
        yield from _tables(driver)


def _tables(driver: Driver) -> Iterator[Stored]:
    interpolant = driver.interpolant
    yield interpolant.centres
    yield interpolant.weights if isinstance(interpolant, RBFInterpolant) else interpolant.values
