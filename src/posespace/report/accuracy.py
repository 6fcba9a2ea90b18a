"""The accuracy report: one page with the errors of several skins as tables, plots and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from posespace.evaluation.compare import (
    COLUMNS,
    Entry,
    compare,
    control_point_notes,
    fit_notes,
    height_notes,
    seen_note,
    worse_notes,
)
from posespace.evaluation.levels import error_by_level
from posespace.evaluation.score import SEVERAL, Score, compared, motion_of, posed
from posespace.evaluation.storage import stored_bytes
from posespace.examples import Examples
from posespace.report.colours import heat
from posespace.report.layers import layers
from posespace.report.page import pictures, scale_bar, table, write_page
from posespace.report.plot import Line, line_plot
from posespace.report.signals import signals
from posespace.report.views import finer, looking_at, picture, worst_poses
from posespace.skin.edit import edit_summary
from posespace.skin.skin import Posable, Skin

WORST = 3
MOST_LEVELS = 12
CURVE_POSES = 10
ORDERED = ("eigenskin",)
"""Methods whose layers have their components ordered by importance, so that trailing ones may be dropped."""


def write_report(skins: Mapping[str, Posable] | Sequence[Entry], examples: Examples, path: str | Path) -> None:
    """Write a page about the errors of skins on examples, with plots and pictures, plain skinning first.

    Parameters
    ----------
    skins : by the names they have on the page; or what `compare` returned for these examples
    examples : the truth, of poses that the fits did not see
    path : the page to write, `.html`
    """
    entries = compare(skins, examples) if isinstance(skins, Mapping) else skins
    scored = [(entry, entry.score) for entry in entries if entry.score is not None]
    rig = examples.rig
    note = f"{len(rig.mesh.points):,} vertices, {len(rig.skeleton)} joints; {seen_note(list(entries))}."
    parts = [
        "<h1>Errors of the skins</h1>",
        *(f'<p class="soft">{escape(line)}</p>' for line in (note, *control_point_notes(list(entries), examples))),
        _error_table(entries),
        *(f'<p class="worse">{escape(line)}.</p>' for line in worse_notes(list(entries))),
        *(f"<p>{escape(line)}</p>" for line in (*fit_notes(list(entries)), *height_notes(list(entries)))),
        *(_edits(entry) for entry in entries),
        _per_pose(scored),
        _per_joint(scored),
        _curves(scored, examples),
        *(signals(entry, examples.motion) for entry in entries if not entry.rival),
        _worst(scored, examples),
        *(layers(entry) for entry in entries if not entry.rival),
    ]
    write_page(Path(path), "posespace: accuracy report", parts)


def _error_table(entries: Sequence[Entry]) -> str:
    rows = [
        [entry.name, *(column.text(entry.score) for column in COLUMNS)] if entry.score else [entry.name, entry.reason]
        for entry in entries
    ]
    best: list[int | None] = [None]
    for column in COLUMNS:
        if not column.is_error:
            best.append(None)
            continue
        values = [getattr(entry.score, column.key) if entry.score else np.inf for entry in entries]
        best.append(int(np.argmin(values)))
    about = (
        "Relative error: the error divided by that of plain skinning. "
        "E_RMS: 1000 times the error per coordinate, in units of half the box diagonal. "
        "Largest error and 95th percentile: in the unit of the mesh. Bytes and numbers: excluding the rig. "
        "Bold: the smallest error of a column."
    )
    heads = ["", *(column.title for column in COLUMNS)]
    return f'<h2>Errors</h2>{table(heads, rows, best)}<p class="soft">{about}</p>'


def _edits(entry: Entry) -> str:
    """The edits of a skin in one line; nothing for a skin without."""
    words = edit_summary(entry.skin) if isinstance(entry.skin, Skin) else ""
    return f"<p>{escape(entry.name)} is edited: {escape(words)}.</p>" if words else ""


def _per_pose(scored: list[tuple[Entry, Score]]) -> str:
    names = scored[0][1].names
    count = range(len(names))
    errors = [(entry.name, list(score.per_pose.values())) for entry, score in scored]
    lines = [Line(name, list(count), values, names, look) for look, (name, values) in enumerate(errors)]
    plot = line_plot(lines, "pose", "RMS error, mesh unit", log_y=True, x_names=names)
    rows = [[pose, *(f"{values[k]:.4g}" for _, values in errors)] for k, pose in enumerate(names)]
    listed = table(["pose", *(name for name, _ in errors)], rows)
    return f"<h2>Error of each pose</h2>{plot}<details><summary>The same as a table</summary>{listed}</details>"


def _per_joint(scored: list[tuple[Entry, Score]]) -> str:
    columns = [(entry.name, score.per_joint) for entry, score in scored]
    joints = list(columns[0][1])
    if set(joints) <= {SEVERAL}:
        return ""
    rows = [[joint, *(f"{errors[joint]:.4f}" for _, errors in columns)] for joint in joints]
    listed = table(["moved alone", *(name for name, _ in columns)], rows)
    return f"<h2>Relative error of each joint</h2><p>Over the poses that move only this joint or control.</p>{listed}"


def _curves(scored: list[tuple[Entry, Score]], examples: Examples) -> str:
    """Error against components, for skins that can drop trailing ones, and against bytes, for all."""
    sampled = examples[np.linspace(0, len(examples) - 1, min(len(examples), CURVE_POSES)).round().astype(int)]
    against_count, against_bytes = [], []
    for look, (entry, score) in enumerate(scored[1:], start=1):
        skin = entry.skin
        ordered = isinstance(skin, Skin) and skin.layers and skin.about.get("method") in ORDERED and not skin.detail
        if isinstance(skin, Skin) and ordered:
            most = max(layer.driver.components for layer in skin.layers)
            levels = sorted(set(np.linspace(0, most, min(most, MOST_LEVELS) + 1).round().astype(int).tolist()))
            errors = error_by_level(skin, levels, sampled)
            notes = [f"{level} components" for level in levels]
            against_count.append(Line(entry.name, levels, errors, notes, look))
            sizes = [stored_bytes(skin.truncated(level)) / len(skin.rig.mesh.points) for level in levels]
            against_bytes.append(Line(entry.name, sizes, errors, notes, look))
        else:
            against_bytes.append(Line(entry.name, [score.bytes_per_vertex], [score.rel_err], look=look))
    if not against_bytes:
        return ""
    parts = ["<h2>Error against size</h2>"]
    if against_count:
        parts.append(f"<p>On {len(sampled)} of the poses, keeping the first components of each layer.</p>")
        parts.append(line_plot(against_count, "components per layer", "relative error", log_y=True))
    parts.append(line_plot(against_bytes, "bytes per vertex excluding the rig", "relative error", log_y=True))
    return "".join(parts)


def _worst(scored: list[tuple[Entry, Score]], examples: Examples) -> str:
    """Truth, plain skinning and each skin at the poses where the first skin is worst."""
    plain, first = scored[0][1], scored[min(1, len(scored) - 1)][1]
    chosen = worst_poses(list(first.per_pose.values()), WORST)
    mesh, size = examples.rig.mesh, (360, 310)
    top = max(float(np.percentile(plain.per_vertex[chosen], 99)), 1e-12)
    finer_by = min((finer(top, score.per_vertex[chosen]) for _, score in scored[1:]), default=1)
    tops = [top] + [top / finer_by] * (len(scored) - 1)
    posed_by = [
        posed(compared(entry.skin, examples), motion_of(entry.skin, examples[chosen]))
        for entry, _ in scored
        if entry.skin is not None
    ]
    parts = ["<h2>Worst poses</h2>", *_heat_keys(scored, tops, chosen)]
    for index in chosen:
        shapes = np.stack([np.asarray(examples.shapes[index], float), *(next(poses)[0] for poses in posed_by)])
        view = looking_at(shapes, mesh.triangles, plain.per_vertex[index] + first.per_vertex[index])
        shown = [(picture(shapes[0], mesh.triangles, view, size, normals=mesh.normals(shapes[0])), "truth")]
        for points, (entry, score), most in zip(shapes[1:], scored, tops, strict=True):
            colors = heat(score.per_vertex[index], most)
            worst = f"{entry.name}: up to {score.per_vertex[index].max():.3g}"
            worst += f", colours ×{round(top / most)}" if most < top else ""
            shown.append((picture(points, mesh.triangles, view, size, colors, mesh.normals(points)), worst))
        parts.append(f"<h3>{escape(examples.motion.names[index])}</h3>{pictures(shown)}")
    return "".join(parts)


def _heat_keys(scored: list[tuple[Entry, Score]], tops: list[float], chosen: list[int]) -> list[str]:
    """The colour scales: one for plain skinning, and a finer one for skins whose errors would not show on it."""
    colours = [f"rgb({', '.join(str(round(255 * c)) for c in row)})" for row in heat(np.linspace(0, 1, 12), 1)]
    beyond = [score.per_vertex[chosen].max() > top for (_, score), top in zip(scored, tops, strict=True)]
    words = "distance from the truth, mesh unit"
    if tops[-1] == tops[0]:
        return [scale_bar(colours, words, f"{tops[0]:.3g}{' and above' if any(beyond) else ''}")]
    finer_by = round(tops[0] / tops[-1])
    return [
        scale_bar(colours, f"{words}: plain skinning", f"{tops[0]:.3g}{' and above' if beyond[0] else ''}"),
        scale_bar(
            colours,
            f"{words}: the others, on a scale {finer_by} times as fine",
            f"{tops[-1]:.3g}{' and above' if any(beyond[1:]) else ''}",
        ),
    ]
