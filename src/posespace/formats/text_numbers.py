"""Numbers in large texts, read a block of lines at a time, so that no block's words are held one by one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_BLOCK = 2**20
_IS_BLANK = np.zeros(256, dtype=bool)
_IS_BLANK[list(b" \t\n\v\f\r")] = True

Bytes = NDArray[np.uint8]


def blocks(text: bytes, least: int = _BLOCK) -> Iterator[bytes]:
    """Yield the text in pieces of at least `least` bytes, each of whole lines."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + least) + 1 or len(text)
        yield text[start:end]
        start = end


def is_blank(text: Bytes) -> NDArray[np.bool_]:
    """Tell for each byte whether it is a blank, a tab or the end of a line."""
    return _IS_BLANK[text]


def word_starts(text: Bytes) -> NDArray[np.bool_]:
    """Tell for each byte whether a word starts there: the first byte that is not blank after one that is."""
    blank = is_blank(text)
    starts = ~blank
    starts[1:] &= blank[:-1]
    return starts


def parse(text: bytes, count: int, dtype: DTypeLike) -> NDArray[Any] | None:
    """Return the `count` words of a text as numbers (count,); None where one of them is not a number."""
    if not count:
        return np.zeros(0, dtype)
    with warnings.catch_warnings():
        # How NumPy says that it stopped at something else.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            numbers: NDArray[Any] = np.fromstring(text, dtype, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    # "1-2" is one word, which NumPy takes for two numbers.
    return numbers if len(numbers) == count else None


def parse_all(text: bytes) -> NDArray[np.float64] | None:
    """Return all words of a text of lines as doubles (n,); None where one of them is not a number."""
    parsed = []
    for block in blocks(text):
        values = parse(block, int(word_starts(np.frombuffer(block, np.uint8)).sum()), np.float64)
        if values is None:
            return None
        parsed.append(values)
    return np.concatenate(parsed) if parsed else np.zeros(0)


def first_bad(text: bytes) -> str:
    """Return the first word of a text that is not a number, short enough for a message."""
    for block in blocks(text):
        for word in block.split():
            if parse(word, 1, np.float64) is None:
                return word[:40].decode("ascii", errors="replace")
    return ""
