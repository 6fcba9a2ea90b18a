"""Pictures as PNG files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from posespace.formats.files import atomic_write


def save_png(path: str | Path, image: ArrayLike) -> None:
    """Write an (H, W, 3) uint8 picture; the file appears whole or not at all."""
    data = png_bytes(image)
    with atomic_write(Path(path)) as temporary:
        temporary.write_bytes(data)


def png_bytes(image: ArrayLike) -> bytes:
    """Return an (H, W, 3) or, with a clear background, (H, W, 4) uint8 picture as a PNG file."""
    from PIL.Image import fromarray

    buffer = BytesIO()
    # Half the time of the usual level 6 for a twentieth more bytes.
    fromarray(np.asarray(image)).save(buffer, format="png", compress_level=4)
    return buffer.getvalue()
