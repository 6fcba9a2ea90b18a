"""Many pictures on one captioned page."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np

from posespace.report.colours import heat
from posespace.report.render import Image

GAP = 8
FINE = 8
INK = (38, 38, 38)


def montage(
    rows: Sequence[Sequence[Image | None]],
    labels: Sequence[str] = (),
    titles: Sequence[str] = (),
    scale: tuple[str, float] | None = None,
) -> Image:
    """Return one captioned page (H, W, 3) uint8 of many pictures, in cells that hold the largest of them.

    Parameters
    ----------
    rows : rows of (H, W, 3) uint8 pictures; None leaves a cell empty, and rows may differ in length
    labels, titles : at the left of each row, above each column; the font has ASCII and little more
    scale : caption and top of the key to the colours of `heat`, below everything
    """
    cells = [(r, c, x) for r, row in enumerate(rows) for c, x in enumerate(row) if x is not None]
    high, wide = (max((image.shape[k] for *_, image in cells), default=64) for k in (0, 1))
    size = min(max(wide / 22, 11.0), 28.0)
    line = round(1.4 * size)
    heads = [textwrap.fill(title, max(int(wide / size / 0.6), 8)) for title in titles]
    above = GAP + line * max((head.count("\n") + 1 for head in heads), default=0)
    left = GAP + line * any(labels)
    bottom = above + len(rows) * (high + GAP)
    width = left + max((len(row) for row in rows), default=1) * (wide + GAP)
    page = np.full((bottom + 3 * line * (scale is not None), width, 3), 255, dtype=np.uint8)
    for r, c, image in cells:
        y = above + r * (high + GAP) + (high - image.shape[0]) // 2
        x = left + c * (wide + GAP) + (wide - image.shape[1]) // 2
        page[y : y + image.shape[0], x : x + image.shape[1]] = image
    for c, head in enumerate(heads):
        middle = above - GAP / 2 - line * (head.count("\n") + 1) / 2
        _write(page, head, left + c * (wide + GAP) + wide / 2, middle, size)
    for r, label in enumerate(labels):
        _write(page, label, (GAP + line) / 2, above + r * (high + GAP) + high / 2, size, upwards=True)
    if scale is not None:
        x, span = width // 4, width // 2
        page[bottom : bottom + line, x : x + span] = heat(np.linspace(0, 1, span), 1) * 255 + 0.5
        for text, across in (("0", x), (scale[0], x + span / 2), (f"{scale[1]:.3g}", x + span)):
            _write(page, text, across, bottom + 1.7 * line, size)
    return page


def _write(page: Image, text: str, x: float, y: float, size: float, upwards: bool = False) -> None:
    """Draw text, letters `size` pixels high, with its middle in column x and row y; what lies outside is cut off."""
    from PIL import Image as Pillow
    from PIL import ImageDraw, ImageFont

    # Drawn large and made smaller: at their own size, small letters stand on whole pixels, unevenly apart.
    font, fine = ImageFont.load_default(FINE * size), Pillow.new("L", (1, 1))
    box = ImageDraw.Draw(fine).multiline_textbbox((0, 0), text, font, anchor="mm", align="center")
    wide, high = (math.ceil(max(-low, top) / FINE) + 1 for low, top in zip(box[:2], box[2:], strict=True))
    fine = Pillow.new("L", (2 * FINE * wide, 2 * FINE * high))
    middle = (FINE * wide, FINE * high)
    ImageDraw.Draw(fine).multiline_text(middle, text, 255, font, anchor="mm", align="center")
    mask = fine.resize((2 * wide, 2 * high), Pillow.Resampling.BOX)
    if upwards:
        mask, wide, high = mask.transpose(Pillow.Transpose.ROTATE_90), high, wide
    whole = Pillow.fromarray(page)
    whole.paste(INK, (round(x) - wide, round(y) - high), mask)
    page[:] = np.asarray(whole)
