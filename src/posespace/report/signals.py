"""Signals of a skin over time, the angles of the joints that drive them, and the error against their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.evaluation.compare import Entry
from posespace.evaluation.storage import stored_bytes
from posespace.geometry import rotations
from posespace.motion import Motion
from posespace.report.layers import energies
from posespace.report.plot import Line, line_plot
from posespace.skin.edit import edit_factors
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

METHODS = ("muscles", "retarget")
"""Methods that are fitted to frames in the order of time."""

MOST_LAYERS, MOST_LINES = 3, 8

MISSING = 1.5
"""Lines break where the time between two frames is more than this times the median: frames are missing there."""


def signals(entry: Entry, motion: Motion) -> str:
    """Return the section of a skin whose coordinates are signals; nothing for others."""
    skin = entry.skin
    if not isinstance(skin, Skin) or skin.about.get("method") not in METHODS or not skin.layers or len(motion) < 2:
        return ""
    order = np.argsort([-energies(layer).sum() for layer in skin.layers], kind="stable")[:MOST_LAYERS]
    factors = edit_factors(skin)
    plots = [_over_time(skin, skin.layers[number], factors[number], motion) for number in sorted(order.tolist())]
    curve = _cross_validation(skin, skin.about.get("left out"))
    return f"<h2>Signals of {escape(entry.name)} over time</h2>{''.join(plots)}{curve}"


def _over_time(skin: Skin, layer: Layer, factors: Floats, motion: Motion) -> str:
    """A layer's signals as they act, times the factors (C,) of edits, and the angles of its joints."""
    rig, driver = skin.rig, layer.driver
    seconds = times(motion)
    gap = MISSING * float(np.median(np.diff(seconds)))
    values = factors * skin.coordinates(driver, motion)
    shown = np.argsort(-energies(layer), kind="stable")[:MOST_LINES]
    lines = [
        Line(f"signal {signal + 1}", seconds, values[:, signal].tolist(), motion.names, look, gap)
        for look, signal in enumerate(sorted(shown.tolist()))
    ]
    parts = [f"<h3>{escape(layer.name)}</h3>", line_plot(lines, "seconds", "signal")]
    joints = list(driver.space.joints(rig.skeleton))[:MOST_LINES]
    if joints:
        degrees = angles(motion, rig.rest.rotations, joints)
        angle_lines = [
            Line(rig.skeleton.names[joint], seconds, degrees[:, k].tolist(), motion.names, k, gap)
            for k, joint in enumerate(joints)
        ]
        parts.append(line_plot(angle_lines, "seconds", "rotation from rest, °"))
    return "".join(parts)


def times(motion: Motion) -> list[float]:
    """Return the seconds of poses, or where these have no order in time, as if they were 30 a second."""
    ordered = bool((np.diff(motion.times) > 0).all())
    seconds: list[float] = (motion.times if ordered else np.arange(len(motion)) / 30.0).tolist()
    return seconds


def angles(motion: Motion, rest: Floats, joints: Sequence[int]) -> Floats:
    """Return angles (P, K) of joints from rest in degrees; negative where opposite to the joint's largest rotation."""
    chosen = list(joints)
    relative = rotations.multiply(rotations.inverse(rest[chosen]), motion.rotations[:, chosen])
    relative = np.where(relative[..., 3:] < 0, -relative, relative)
    sine = np.linalg.norm(relative[..., :3], axis=-1)
    most = sine.argmax(axis=0)
    axis = relative[most, np.arange(len(chosen)), :3]
    sign = np.where((relative[..., :3] * axis).sum(axis=-1) < 0, -1.0, 1.0)
    return np.asarray(sign * np.degrees(2 * np.arctan2(sine, relative[..., 3])))


def _cross_validation(skin: Skin, rows: Sequence[Mapping[str, Any]] | None) -> str:
    """The cross-validation error against the number of signals, and against bytes."""
    if not rows:
        return ""
    counts, errors = [float(row["signals"]) for row in rows], [float(row["rms"]) for row in rows]
    vertices = len(skin.rig.mesh.points)
    bases = sum(layer.basis.nbytes for layer in skin.layers)
    most = max(layer.driver.components for layer in skin.layers)
    fixed = stored_bytes(skin) - bases
    sizes = [(fixed + count * bases / most) / vertices for count in counts]
    notes = [f"{count:.0f} signals" for count in counts]
    return (
        "<h3>How many signals</h3>"
        "<p>The cross-validation error: that of a typical run of frames which the fit did not use.</p>"
        + line_plot([Line("held-out frames", counts, errors, notes, 1)], "signals", "RMS error, mesh unit", log_y=True)
        + line_plot(
            [Line("held-out frames", sizes, errors, notes, 1)], "bytes per vertex", "RMS error, mesh unit", log_y=True
        )
    )
