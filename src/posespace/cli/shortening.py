"""Figures as people see them: what a character has many of, such as links, limits, layers or clips, in one line."""

from __future__ import annotations

from typing import Any

from posespace.cli.printing import short

Figures = dict[str, Any]

_JOINTS_SHOWN = 3
_MANY, _SHOWN = 6, 3
"""Of more things of a kind than the first number, as many as the second are shown in full."""


def folded(figures: Figures) -> Figures:
    """Return the figures of a file with only the first few of many rigs, meshes or motions, and the others' names."""
    fewer: Figures = {}
    for kind, entries in figures.items():
        fewer[kind] = entries
        if kind in ("rigs", "meshes", "motions") and len(entries) > _MANY:
            names = list(entries)
            fewer[kind] = {name: entries[name] for name in names[:_SHOWN]}
            fewer[f"{len(names) - _SHOWN} more {kind} (--all shows them)"] = ", ".join(names[_SHOWN:])
    return fewer


def with_short_layers(figures: Figures) -> Figures:
    """Return the figures of a skin with each layer of its fit in one line."""
    about = figures["about"]
    if "layers" not in about:
        return figures
    return figures | {"about": about | {"layers": {layer["name"]: _layer(layer) for layer in about["layers"]}}}


def shortened(figures: Figures) -> Figures:
    """Return figures, nested as they may be, with what a character has many of in one line each."""
    shown: Figures = {}
    for key, value in figures.items():
        if key == "cross_validation" and (rows := _dicts(value)):
            shown[key] = _curve(rows, [region.get("signals") for region in _dicts(figures.get("regions"))])
        elif key == "linked_for_pose_spaces" and isinstance(value, dict):
            shown[key] = _links(value)
        elif key == "limits" and isinstance(value, dict):
            shown[key] = _limits(value)
        elif key == "shrunk_to" and isinstance(value, dict):
            shown[key] = [f"{joint} {short(factor)}" for joint, factor in value.items()] or {}
        elif key == "singular_values" and isinstance(value, dict):
            shown[key] = f"of {len(value)} layers (--json lists them)"
        elif isinstance(value, dict):
            shown[key] = shortened(value)
        elif isinstance(value, list):
            shown[key] = [shortened(entry) if isinstance(entry, dict) else entry for entry in value]
        else:
            shown[key] = value
    return shown


def _links(links: Figures) -> str:
    """The first few of the joints that are linked to another than their parent."""
    lines = [f"{joint} to {link}" for joint, link in list(links.items())[:_JOINTS_SHOWN]]
    return ", ".join(lines) + _more_joints(links)


def _limits(limits: Figures) -> str:
    """The limits of the first few joints that have any, in degrees."""
    ranges = [
        f"{joint}.{axis} {low:g}° to {high:g}°"
        for joint, axes in list(limits.items())[:_JOINTS_SHOWN]
        for axis, (low, high) in axes.items()
    ]
    return ", ".join(ranges) + _more_joints(limits) if ranges else "none"


def _more_joints(joints: Figures) -> str:
    return f", ... ({len(joints)} joints; --json lists all)" if len(joints) > _JOINTS_SHOWN else ""


def _curve(rows: list[Figures], fitted: list[Any]) -> str:
    """The cross-validation errors in one line: with one signal, with as many as were fitted, with the most."""
    shown = [row for k, row in enumerate(rows) if k in (0, len(rows) - 1) or row.get("signals") in fitted]
    return ", ".join(f"{short(row.get('rms'))} with {short(row.get('signals'))}" for row in shown)


def _dicts(value: Any) -> list[Figures]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _layer(layer: Figures) -> str:
    if "radius" not in layer:
        return f"poses {layer['poses']}, shrunk to {short(layer['shrunk_to'])}"
    radii = {axis: short(value) for axis, value in layer["radius"].items()}
    same = len(set(radii.values())) == 1
    shown = list(radii.values())[:1] if same else [f"{axis} {value}" for axis, value in radii.items()]
    single = [f"{name} {short(value)}" for name, value in layer.get("radius_by_sculpt", {}).items()]
    return f"sculpts {len(layer['sculpts'])}, radius {', '.join(shown + single)}"
