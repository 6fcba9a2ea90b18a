"""The layers of a skin as pictures: the support of each, and its strongest displacements."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape

import numpy as np

from posespace.check import Floats
from posespace.evaluation.compare import Entry
from posespace.report.camera import Camera
from posespace.report.colours import CLAY
from posespace.report.page import pictures
from posespace.report.render import Lit, lit
from posespace.report.views import clear, facing
from posespace.rig import Rig
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

SUPPORT = (0.16, 0.47, 0.74)
MOST_LAYERS = 24


def layers(entry: Entry) -> str:
    """The supports of a skin's layers, and the largest displacements of the layers that move most."""
    skin = entry.skin
    if not isinstance(skin, Skin) or not skin.layers:
        return ""
    rig, count = skin.rig, len(skin.rig.mesh.points)
    energy = [energies(layer) for layer in skin.layers]
    order = np.argsort([-layer_energy.sum() for layer_energy in energy])
    shown, seen = [], _views(rig, (240, 220))
    for number in sorted(order[:MOST_LAYERS].tolist()):
        layer = skin.layers[number]
        view, colors = facing(rig, reach(layer, count)), support_colours(layer, count)
        caption = f"{short_name(layer.name)}: {len(layer.support):,} vertices, {_components(layer)}"
        shown.append((clear(seen(view).painted(colors)), caption))
    moves = [_displacements(rig, skin.layers[number], energy[number]) for number in order[:3].tolist()]
    return (
        f"<h2>Layers of {escape(entry.name)}</h2>"
        "<p>Supports: the bluer a vertex, the further the layer may move it.</p>"
        f"{pictures(shown, 150)}<h3>Displacements in the rest shape</h3>"
        "<p>x, y and z as red, green and blue; grey does not move. Shown: the components that move most.</p>"
        f"{''.join(moves)}"
    )


def _displacements(rig: Rig, layer: Layer, energy: Floats) -> str:
    """The four components of a layer that move most."""
    count, shown = len(rig.mesh.points), []
    seen = _views(rig, (300, 260))(facing(rig, reach(layer, count)))
    for component in np.argsort(-energy)[:4].tolist():
        colors = displacement_colours(layer, component, count)
        percent = 100 * energy[component] / max(float(energy.sum()), 1e-300)
        caption = f"{short_name(layer.name)}, component {component + 1}: {percent:.1f} % of the layer's energy"
        shown.append((clear(seen.painted(colors)), caption))
    return f"<div>{pictures(shown)}</div>"


def _views(rig: Rig, size: tuple[int, int]) -> Callable[[Camera], Lit]:
    """The rest shape from each side that is asked for, made once."""
    return cache(lambda view: lit(rig.mesh.points, rig.mesh.triangles, view, size, rig.normals))


def _components(layer: Layer) -> str:
    count = layer.driver.components
    return "1 component" if count == 1 else f"{count} components"


def reach(layer: Layer, count: int) -> Floats:
    """Return the distance (N,) that a unit of a layer's strongest component moves each vertex."""
    moves = np.zeros(count)
    moves[layer.support] = np.linalg.norm(np.asarray(layer.basis, dtype=np.float64), axis=2).max(axis=0, initial=0.0)
    return moves


def short_name(name: str) -> str:
    """Return a layer's name, of more than two joints only the first, e.g. "hand + 18 more"."""
    joined, on, region = name.partition(" on ")
    first, *others = joined.split(" + ")
    if len(others) < 2:
        return name
    more = re.fullmatch(r"(\d+) more", others[-1])
    count = len(others) - 1 + int(more[1]) if more else len(others)
    return f"{first} + {count} more{on}{region}"


def energies(layer: Layer) -> Floats:
    """Return the energy (C,) of each component of a layer: its mean squared displacement over the layer's samples."""
    coordinates = layer.driver.interpolant(layer.driver.interpolant.centres)
    basis = np.asarray(layer.basis, dtype=np.float64)
    return np.asarray((coordinates.reshape(len(coordinates), -1) ** 2).mean(axis=0) * (basis**2).sum(axis=(1, 2)))


def support_colours(layer: Layer, count: int) -> Floats:
    """Return colours (N, 3): clay outside the support; inside, the bluer the further the layer may move it."""
    colors = np.tile(np.array(CLAY), (count, 1))
    moves = reach(layer, count)[layer.support]
    share = 0.35 + 0.65 * np.sqrt(moves / max(float(moves.max(initial=0.0)), 1e-300))
    colors[layer.support] += share[:, None] * (np.array(SUPPORT) - colors[layer.support])
    return colors


def displacement_colours(layer: Layer, component: int, count: int) -> Floats:
    """Return colours (N, 3) of one component: its x, y and z as red, green and blue, grey where it is zero."""
    colors = np.full((count, 3), 0.6)
    moves = np.asarray(layer.basis, dtype=np.float64)[component]
    colors[layer.support] += 0.4 * moves / max(float(np.abs(moves).max(initial=0.0)), 1e-300)
    return colors
