"""The shell of a report: one HTML page that needs no network, light or dark like the reader's system."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from posespace.formats.files import atomic_write
from posespace.report.png import png_bytes

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1d2125; --soft: #5b646d; --rule: #d9dee3; --card: #f4f6f8;
  --line0: #6b7580; --line1: #0072b2; --line2: #d55e00; --line3: #009e73; --line4: #b0468a; --line5: #a67c00;
  --line6: #3a9bd0; --line7: #7a4fc9; }
@media (prefers-color-scheme: dark) { :root { --paper: #16191d; --ink: #e6e9ec; --soft: #a3acb5; --rule: #353c44;
  --card: #20252b; --line0: #a3acb5; --line1: #56b4e9; --line2: #ff8a4c; --line3: #2fd3a2; --line4: #ee8fcb;
  --line5: #e6c229; --line6: #8fd0ff; --line7: #b79bff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 1.2rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1.1rem 0 .4rem; }
p { margin: .3rem 0 .8rem; max-width: 75ch; } .soft { color: var(--soft); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--rule); text-align: right; vertical-align: bottom; }
th { font-weight: 600; } td { white-space: nowrap; } thead th { min-width: 5rem; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--paper);
  min-width: 7.5rem; }
td.best { font-weight: 700; } .worse { color: #c2410c; font-weight: 600; }
td.failed { text-align: left; color: var(--soft); white-space: normal; min-width: 20rem; }
figure { margin: .4rem 0 1rem; } .plot svg { display: block; width: 100%; max-width: 900px; }
.plot svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } .grid { stroke: var(--rule); }
@media (max-width: 640px) { .plot svg text { font-size: 20px; } .plot svg text.name { font-size: 14px; } }
.plot polyline, .key line { stroke-width: 2; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: 0 0 .3rem; padding: 0;
  font-size: .9rem; }
.plot svg.key { display: inline-block; width: 26px; height: 10px; margin-right: .35rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(var(--cell), 44%), 1fr)); gap: .6rem; }
.pictures figure { margin: 0; background: var(--card); border-radius: 6px; padding: .4rem; }
.pictures img { display: block; width: 100%; height: auto; }
.pictures figcaption { font-size: .85rem; text-align: center; overflow-wrap: anywhere; }
.scale { display: flex; align-items: center; gap: .6rem; font-size: .85rem; margin: .2rem 0 .6rem; }
.scale span.bar { flex: 0 1 260px; height: 12px; border-radius: 3px; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--soft); }
"""
# The page could not load anything from elsewhere even if a name in it tried to.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_page(path: Path, title: str, parts: Sequence[str]) -> None:
    """Write the page at once or not at all; `parts` are HTML."""
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{STYLE}</style>'
    )
    body = "\n".join(part for part in parts if part)
    text = f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'
    with atomic_write(path) as temporary:
        # The name of a file may be any bytes: those that are no text are escaped.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], best: Sequence[int | None] = ()) -> str:
    """Return a table; the cell of column k in row `best[k]` stands out.

    A row of two cells holds a name and, in place of figures, the reason why there are none.
    """
    marks = {(row, column) for column, row in enumerate(best) if row is not None}
    lines = []
    for number, row in enumerate(rows):
        if len(row) == 2 < len(heads):
            lines.append(
                f'<tr><td>{escape(row[0])}</td><td class="failed" colspan="{len(heads) - 1}">{escape(row[1])}</td></tr>'
            )
            continue
        kinds = [' class="best"' if (number, k) in marks else "" for k in range(len(row))]
        cells = [f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f"<th>{escape(entry)}</th>" for entry in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def pictures(images: Sequence[tuple[NDArray[Any], str]], cell: int = 210) -> str:
    """Return captioned pictures, (H, W, 4) uint8 each, in as many columns of at least `cell` pixels as fit."""
    shown = [
        f'<figure><img src="{_data_uri(image)}" alt="{escape(caption)}" width="{image.shape[1]}" '
        f'height="{image.shape[0]}"><figcaption>{escape(caption)}</figcaption></figure>'
        for image, caption in images
    ]
    return f'<div class="pictures" style="--cell: {cell}px">{"".join(shown)}</div>'


def scale_bar(colours: Sequence[str], caption: str, top: str) -> str:
    """Return the key to a scale of colours, from 0 to `top`."""
    bar = f'<span class="bar" style="background: linear-gradient(to right, {", ".join(colours)})"></span>'
    return f'<div class="scale">0 {bar} {escape(top)} <span class="soft">{escape(caption)}</span></div>'


def _data_uri(image: NDArray[Any]) -> str:
    return "data:image/png;base64," + base64.b64encode(png_bytes(image)).decode("ascii")
