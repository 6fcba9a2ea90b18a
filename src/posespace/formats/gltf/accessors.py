"""Accessors: the arrays of a part of `POSESPACE_drivers`, each a flat accessor of numbers that a key names."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.buffers import Document


class Accessors:
    """Reads the arrays of a part by their keys; the sizes that a key's number of elements implies are found first.

    Parameters
    ----------
    document : the file
    part : the object whose keys name accessors
    """

    def __init__(self, document: Document, part: Fields) -> None:
        self.document, self._part = document, part

    def axis(self, key: str, *others: int) -> int:
        """Return the length of the one axis of an array that is not known, given all others."""
        count, rest = self.document.count(self._index(key)), math.prod(others)
        if not rest or not count or count % rest:
            shape = " · ".join(map(str, others))
            raise InputError(f"{self._part.where}: {key}: expected a multiple of {shape} numbers, got {count}")
        return count // rest

    def real(self, key: str, shape: tuple[int, ...]) -> Floats:
        """Return an array of real numbers, float32."""
        values = self.document.floats(self._index(key), "SCALAR", self._where(key), math.prod(shape))
        return values.reshape(shape)

    def double(self, key: str, shape: tuple[int, ...]) -> Floats:
        """Return an array of real numbers in double precision, for what is computed from them to have it too."""
        return self.real(key, shape).astype(np.float64)

    def whole(self, key: str, shape: tuple[int, ...], below: int) -> Ints:
        """Return an array of whole numbers from 0 to `below` - 1, int32."""
        values = self.document.integers(self._index(key), "SCALAR", self._where(key), math.prod(shape))
        if values.size and values.max() >= below:
            raise InputError(f"{self._where(key)}: expected numbers below {below}, got {values.max()}")
        return values.reshape(shape).astype(np.int32)

    def steps(self, key: str, shape: tuple[int, ...], bits: int) -> NDArray[np.signedinteger]:
        """Return an array of whole numbers of 16 or 8 bits, of any sign."""
        kind = np.dtype(f"i{bits // 8}")
        values = self.document.signed(self._index(key), self._where(key), math.prod(shape))
        if values.dtype != kind:
            raise InputError(f"{self._where(key)}: expected whole numbers of {bits} bits, got {values.dtype.name}")
        return values.reshape(shape)

    def _index(self, key: str) -> int:
        return self._part.integer(key, below=self.document.accessor_count)

    def _where(self, key: str) -> str:
        return f"{self._part.where}: {key}"
