"""Budget: how much memory and work a file may ask for. Every such limit is here.

A few bytes can ask for gigabytes: a node that instances a mesh takes a dozen bytes, a number in a marker file can
ask for any number of frames. So allocations and work are counted before they are made. Each limit has a part that any
file may use and a part that grows with its bytes. What is computed later, from a rig, a motion or a take, is limited in
the same way, by the bytes of their arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

from posespace.errors import InputError


@dataclass(frozen=True)
class Limit:
    """How many of something a file may ask for.

    Parameters
    ----------
    any_file : what every file may ask for, however small
    bytes_each : one more for so many bytes; 0: no more
    """

    any_file: int
    bytes_each: float = 0.0

    def of(self, size: int) -> int:
        """Return how many a file of `size` bytes may ask for."""
        return self.any_file + (int(size / self.bytes_each) if self.bytes_each else 0)


NUMBERS = Limit(32_000_000, 1 / 8)
"""Numbers held in memory: sparse and shared accessors let a few bytes ask for billions."""
STEPS = Limit(10_000, 128)
"""Steps of work of about 0.1 ms."""
LISTS = Limit(1_000_000, 16)
"""JSON lists and objects: an empty one takes 2 bytes of the file and 30 times that in memory."""
FRAME_NUMBERS = Limit(8_000_000)
"""Numbers of the frames between the keys of a clip: two keys can be any time apart."""
FRAMES = Limit(20_000, 64)
"""Frames that are made between the poses of a motion, or of a take of markers, when it is resampled or written."""
ASKED_FOR = 4
"""Factor on the number of frames where a user asks for a rate."""
FRAME = 16
"""A frame costs as much as this many numbers, besides the numbers it holds."""
JOINTS = Limit(30_000)
"""Joints of a BVH."""
ROTATIONS = Limit(1_000_000)
"""Joints times frames of a BVH; one that has more must be long enough for them."""
MARKERS = Limit(30_000)
"""Markers of a TSV or TRC."""
TAKE_BYTES = Limit(400_000_000)
"""Bytes of the frames of a C3D."""
SHAPES = Limit(100_000)
"""Shapes of a .npy stack."""
ARRAY = Limit(2**27)
"""Numbers of one array of a USD file, once it is expanded."""

NUMBERS_A_STEP = 2_500
"""Numbers that simple arithmetic processes in a step."""


class Budget:
    """The memory and the work that a file, a rig or a motion may still ask for.

    Parameters
    ----------
    size : bytes of the file or noun; the limits grow with them
    name : its name in messages: "file", "rig", "motion"
    """

    def __init__(self, size: int, name: str = "file") -> None:
        self._numbers, self._steps = NUMBERS.of(size), STEPS.of(size)
        self._name = name

    @property
    def numbers(self) -> int:
        """How many numbers may still be held."""
        return self._numbers

    @property
    def steps(self) -> int:
        """How many steps of work may still be done."""
        return self._steps

    def grow(self, size: int) -> None:
        """Count `size` more bytes: those of another file that belongs to it."""
        self._numbers += NUMBERS.of(size) - NUMBERS.any_file
        self._steps += STEPS.of(size) - STEPS.any_file

    def hold(self, numbers: int, what: str, remedy: str = "is it damaged?") -> None:
        """Count `numbers` about to be held for `what`; raise if the size does not explain them."""
        self._numbers -= numbers
        if self._numbers < 0:
            raise InputError(f"{what}: asks for more numbers than a {self._name} of this size can need; {remedy}")

    def work(self, steps: int, what: str, remedy: str = "export the character alone") -> None:
        """Count the work on `what`; raise if the size does not explain so much."""
        self._steps -= steps
        if self._steps < 0:
            raise InputError(f"holds more {what} than a {self._name} of this size can need; {remedy}")
