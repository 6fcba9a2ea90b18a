"""Line plots as inline SVG: a linear or logarithmic axis, a legend, labels; colours come from the page's style."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

WIDE, HIGH = 760, 320
LEFT, RIGHT, TOP, BOTTOM = 90, 14, 12, 52
COLOURS = 8
"""How many colours the page's style has: --line0, --line1, ...; further lines repeat them dashed."""

MOST_NAMES, LONGEST_NAME, LETTER = 30, 24, 6.2
"""Most names along an axis, most letters of each, and the width of a letter."""


@dataclass(frozen=True)
class Line:
    """One line of a plot.

    Parameters
    ----------
    name : in the legend
    x, y : its points
    notes : what each point is called when the pointer rests on it
    look : the number of its colour, so that one thing looks the same in several plots
    gap : the line breaks where x goes on by more than this
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    notes: Sequence[str] = ()
    look: int = 0
    gap: float = math.inf


def line_plot(
    lines: Sequence[Line],
    x_label: str,
    y_label: str,
    log_y: bool = False,
    log_x: bool = False,
    x_names: Sequence[str] = (),
) -> str:
    """Return a figure of lines; on a logarithmic axis, points at or below zero are left out.

    `x_names` are what x = 0, 1, 2, ... are called; where they are many, some of them, evenly chosen, are written.
    """
    kept = [_positive(line, log_x, log_y) for line in lines]
    across = _Axis.around([x for line in kept for x in line.x], log_x, LEFT, WIDE - RIGHT)
    up = _Axis.around([y for line in kept for y in line.y], log_y, HIGH - BOTTOM, TOP)
    names = {k: _shortened(x_names[k]) for k in range(0, len(x_names), math.ceil(len(x_names) / MOST_NAMES) or 1)}
    # Names slant down to the left, so that they may be long; numbers take one line.
    room = round(0.7 * (16 + LETTER * max((len(name) for name in names.values()), default=0))) if names else 20
    high = HIGH - BOTTOM + room + (38 if names else 32)
    parts = [f'<svg viewBox="0 0 {WIDE} {high}" role="img" aria-label="{escape(f"{y_label} against {x_label}")}">']
    for value, text in up.ticks():
        y = f"{up.position(value):.1f}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y}" dy="4" text-anchor="end">{text}</text>')
    foot = HIGH - BOTTOM
    for value, text in names.items() if names else across.ticks():
        x = f"{across.position(value):.1f}"
        slant = f'transform="rotate(-45 {x} {foot + 16})" class="name" text-anchor="end"' if names else ""
        attributes = slant or 'text-anchor="middle"'
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{foot}"/>')
        parts.append(f'<text x="{x}" y="{foot + (16 if names else 20)}" {attributes}>{escape(text)}</text>')
    middle = (TOP + foot) / 2
    parts.append(f'<text x="{(LEFT + WIDE - RIGHT) / 2}" y="{high - 6}" text-anchor="middle">{escape(x_label)}</text>')
    upwards = f'transform="rotate(-90 14 {middle})" text-anchor="middle"'
    parts.append(f'<text x="14" y="{middle}" {upwards}>{escape(y_label)}</text>')
    parts += [_drawn(line, across, up) for line in kept]
    return f'<figure class="plot">{_legend(kept)}{"".join(parts)}</svg></figure>'


def _positive(line: Line, log_x: bool, log_y: bool) -> Line:
    notes = line.notes or [""] * len(line.x)
    points = [
        (x, y, note)
        for x, y, note in zip(line.x, line.y, notes, strict=True)
        if math.isfinite(x) and math.isfinite(y) and (x > 0 or not log_x) and (y > 0 or not log_y)
    ]
    return replace(line, x=[p[0] for p in points], y=[p[1] for p in points], notes=[p[2] for p in points])


def _shortened(name: str) -> str:
    """A name that fits: long ones keep their beginning and their end, where poses of one set differ."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"


def _look(number: int) -> tuple[str, str]:
    dashes = ("", ' stroke-dasharray="7 4"', ' stroke-dasharray="2 3"')[number // COLOURS % 3]
    return f"var(--line{number % COLOURS})", dashes


def _legend(lines: Sequence[Line]) -> str:
    entries = []
    for line in lines:
        colour, dashes = _look(line.look)
        key = (
            f'<svg class="key" viewBox="0 0 26 10"><line x1="1" x2="25" y1="5" y2="5" stroke="{colour}"{dashes}/></svg>'
        )
        entries.append(f"<li>{key}{escape(line.name)}</li>")
    return f'<ul class="legend">{"".join(entries)}</ul>'


def _drawn(line: Line, across: _Axis, up: _Axis) -> str:
    colour, dashes = _look(line.look)
    positions = [(across.position(x), up.position(y)) for x, y in zip(line.x, line.y, strict=True)]
    breaks = [k for k in range(1, len(positions)) if line.x[k] - line.x[k - 1] > line.gap]
    drawn = ""
    for start, end in itertools.pairwise([0, *breaks, len(positions)]):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in positions[start:end])
        drawn += f'<polyline points="{path}" fill="none" stroke="{colour}"{dashes}/>'
    radius = 3 if len(positions) <= 60 else 1.5
    for (x, y), value, note in zip(positions, line.y, line.notes, strict=True):
        title = escape(f"{line.name}{': ' + note if note else ''}, {value:.4g}")
        drawn += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"><title>{title}</title></circle>'
    return drawn


@dataclass(frozen=True)
class _Axis:
    """Values from `low` to `high`, drawn from `start` to `end`."""

    low: float
    high: float
    log: bool
    start: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], log: bool, start: float, end: float) -> _Axis:
        low, high = (min(values), max(values)) if values else (1.0, 10.0)
        if log:
            # An error of almost nothing would squeeze all others: it lies on the bottom line instead.
            low = max(low, 1e-5 * high)
            grown = max((high / low) ** 0.04, 1.05)
            return cls(low / grown, high * grown, True, start, end)
        low = min(low, 0.0)
        return cls(low, high + 0.04 * (high - low) if high > low else low + 1.0, False, start, end)

    def position(self, value: float) -> float:
        share = (
            math.log(value / self.low) / math.log(self.high / self.low)
            if self.log
            else (value - self.low) / (self.high - self.low)
        )
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            span = self.high / self.low
            steps = (
                (1,) if span > 1e4 else (1, 3) if span > 300 else (1, 2, 5) if span > 10 else (1, 1.5, 2, 3, 4, 5, 7)
            )
            values = [step * 10.0**decade for decade in decades for step in steps]
        else:
            unit = 10.0 ** math.floor(math.log10((self.high - self.low) / 5))
            step = next(k * unit for k in (1, 2, 5, 10) if (self.high - self.low) / (k * unit) <= 6)
            values = [k * step for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        return [(value, f"{value:.4g}") for value in values if self.low <= value <= self.high]
