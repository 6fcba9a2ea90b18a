"""Figures of a skin for the page's panels: its layers, their supports and components, and its signals over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats, Floats32
from posespace.errors import InputError
from posespace.evaluation.storage import stored_bytes
from posespace.fit.regression import evenly_spread
from posespace.motion import Motion
from posespace.report.layers import energies, reach, short_name
from posespace.report.signals import angles, times
from posespace.skin.edit import edit_factors, scaled, with_beta
from posespace.skin.layer import Layer
from posespace.skin.provenance import CROSS_VALIDATED_ERROR, EXAMPLES_ERROR, SINGULAR_VALUES, notes_of
from posespace.skin.skin import Skin

Answer = tuple[dict[str, Any], dict[str, NDArray[np.float32]]]
"""Plain JSON, and arrays by name."""

MOST_POSES, MOST_DRIVING = 2000, 8
"""Most poses, spread evenly, that signals are shown at, and most joints or controls there: those that move most."""

_FAINTEST = 0.35
"""The colour weight of vertices that a layer hardly moves, so that its whole support is seen."""


def figures(
    what: str, skin: Skin, motion: Motion, asked: Mapping[str, Any], scales: Mapping[str | int, float] | None = None
) -> Answer:
    """Return what a panel asks for: "skin", "support", "component" or "signals".

    Parameters
    ----------
    what : its name
    skin : the skin that is looked at
    motion : the poses of the examples, for signals
    asked : "layer" for all but "skin", and "component": numbers counted from 0
    scales : what the skin was `edited` with; with them "signals" says the scale of each
    """
    check.choice("figures", what, tuple(_FIGURES))
    words, arrays = _FIGURES[what](skin, motion, asked)
    if what == "signals":
        words["scales"] = [float((scales or {}).get(name, 1.0)) for name in words["names"]]
    return words, arrays


def edited(skin: Skin, scales: Mapping[str | int, float], beta: float | None = None) -> Skin:
    """Return a fitted skin with signals or layers scaled, and with the pull of its control points.

    Give all scales that are wanted, and the skin as it was fitted: what is muted has no way back.

    Parameters
    ----------
    skin : as it was fitted
    scales : factors by name, e.g. {"muscles:3": 0} mutes the third signal; see `Skin.edited`
    beta : of control points; None: as it was fitted
    """
    changed = scaled(skin, scales) if scales else skin
    return changed if beta is None else with_beta(changed, beta)


def skin_figures(skin: Skin) -> dict[str, Any]:
    """Return what a skin is: how it was fitted, its errors and bytes, and of each layer its size and singular values.

    Errors are relative to plain skinning, None where the fit did not say.
    """
    about, stored = skin.about, stored_bytes(skin)
    return {
        "method": about.get("method"),
        "vertices": len(skin.rig.mesh.points),
        "error": _number(about.get(EXAMPLES_ERROR)),
        "cross_validated": _number(about.get(CROSS_VALIDATED_ERROR)),
        "bytes": stored,
        "bytes_per_vertex": stored / max(1, len(skin.rig.mesh.points)),
        "beta": skin.bones.figures().get("beta"),
        "control_points": len(skin.bones.points),
        "layers": [_layer_figures(skin, layer) for layer in skin.layers],
        "notes": notes_of(about),
    }


def singular_values(skin: Skin, layer: Layer) -> tuple[Floats, float | None]:
    """Return the singular values of a layer, largest first, and the share of their squares that it keeps.

    Those that the fit recorded are of all that it could have stored. Otherwise they are of what the layer gives over
    its own samples, and the share is not known: None.
    """
    recorded = skin.about.get(SINGULAR_VALUES)
    values = _positive(recorded.get(layer.name)) if isinstance(recorded, Mapping) else np.zeros(0)
    if len(values):
        squares = values**2
        return values, float(squares[: layer.driver.components].sum() / squares.sum())
    # Of the product of coordinates (M, C) and basis (C, 3S), by the small matrices (C, C) of their inner products.
    flat = np.asarray(layer.basis, dtype=np.float64).reshape(layer.driver.components, -1)
    triangle = np.asarray(np.linalg.qr(_sample_coordinates(layer), mode="r"))
    squares = np.linalg.eigvalsh(triangle @ (flat @ flat.T) @ triangle.T)[::-1]
    return np.sqrt(np.maximum(squares, 0.0))[: layer.driver.components], None


def support_weights(skin: Skin, layer: Layer) -> Floats32:
    """Return colour weights (N,): 0 outside the support of a layer; inside up to 1, where it may move the skin most."""
    moves = reach(layer, len(skin.rig.mesh.points))
    weights = np.zeros(len(moves), dtype=np.float32)
    inside = moves[layer.support]
    share = np.sqrt(inside / max(float(inside.max(initial=0.0)), 1e-300))
    weights[layer.support] = _FAINTEST + (1 - _FAINTEST) * share
    return weights


def component_sizes(skin: Skin, layer: Layer, component: int) -> Floats32:
    """Return the length (N,) of the displacements of one component where it is largest over its samples, in metres."""
    sizes = np.zeros(len(skin.rig.mesh.points), dtype=np.float32)
    most = float(np.abs(_sample_coordinates(layer)[:, component]).max())
    moves = np.linalg.norm(np.asarray(layer.basis[component : component + 1], dtype=np.float64)[0], axis=1)
    sizes[layer.support] = most * skin.rig.mesh.unit * moves
    return sizes


def signals(skin: Skin, motion: Motion, layer: Layer) -> Answer:
    """Return the coordinates of a layer over time as they act, and what drives them.

    Returns
    -------
    words : "layer", its name; "names" of signals, as `edited` takes them; "shares" of the layer's energy; "poses";
        "joints" and "controls", those that move most
    arrays : "times" (P,) in seconds; "signals" (P, C); "angles" (P, K) of the joints from rest, in degrees; "values"
        (P, L) of the controls
    """
    motion = motion[evenly_spread(len(motion), MOST_POSES)]
    number = [other is layer for other in skin.layers].index(True)
    values = edit_factors(skin)[number] * skin.coordinates(layer.driver, skin.aligned(motion)[0])
    energy, driving = energies(layer), _driving(skin, motion, layer)
    words = {
        "layer": layer.name,
        "names": [f"{layer.name}:{k + 1}" for k in range(layer.driver.components)],
        "shares": (energy / max(float(energy.sum()), 1e-300)).tolist(),
        "poses": list(motion.names),
        **{kind: names for kind, (names, _) in driving.items()},
    }
    arrays = {
        "times": np.array(times(motion)),
        "signals": values,
        "angles": driving["joints"][1],
        "values": driving["controls"][1],
    }
    return words, {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in arrays.items()}


def _driving(skin: Skin, motion: Motion, layer: Layer) -> dict[str, tuple[list[str], Floats]]:
    """By kind the names of what drives a layer, and angles or values (P, K), of those that move most."""
    skeleton, space = skin.rig.skeleton, layer.driver.space
    joints = list(dict.fromkeys(space.joints(skeleton)))
    turned = angles(motion, skin.rig.rest.rotations, joints) if joints else np.zeros((len(motion), 0))
    controls = list(space.controls(skeleton))
    known = dict(zip(motion.control_names, motion.controls.T, strict=True))
    zeros = np.zeros(len(motion))
    values = np.stack([zeros, *(known.get(name, zeros) for name in controls)], axis=1)[:, 1:]
    return {
        "joints": _most_moving([skeleton.names[joint] for joint in joints], turned),
        "controls": _most_moving(controls, values),
    }


def _most_moving(names: Sequence[str], values: Floats) -> tuple[list[str], Floats]:
    """The names and values (P, K) with the largest ranges, in their order."""
    chosen = np.sort(np.argsort(-np.ptp(values, axis=0), kind="stable")[:MOST_DRIVING])
    return [names[k] for k in chosen], values[:, chosen]


def _layer_figures(skin: Skin, layer: Layer) -> dict[str, Any]:
    singular, kept = singular_values(skin, layer)
    normals = 0 if layer.normal_basis is None else layer.normal_basis.nbytes
    return {
        "name": layer.name,
        "label": short_name(layer.name),
        "drives": list(layer.driver.space.names),
        "vertices": len(layer.support),
        "components": layer.driver.components,
        "bytes": int(layer.support.nbytes + layer.basis.nbytes + normals),
        "singular": singular.tolist(),
        "kept": kept,
    }


def _sample_coordinates(layer: Layer) -> Floats:
    """The coordinates (M, C) that a layer's driver gives at its samples."""
    interpolant = layer.driver.interpolant
    return np.asarray(interpolant(interpolant.centres)).reshape(len(interpolant.centres), -1)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and np.isfinite(value) else None


def _positive(values: object) -> Floats:
    """The finite numbers above 0 of a list; none where a file holds something else there."""
    listed = values if isinstance(values, list) else []
    return np.array([number for value in listed if (number := _number(value)) is not None and number > 0])


def _layer_of(skin: Skin, asked: Mapping[str, Any]) -> Layer:
    return skin.layers[_index("layer", asked, len(skin.layers))]


def _index(name: str, asked: Mapping[str, Any], count: int) -> int:
    number = check.whole(name, asked.get(name))
    if not 0 <= number < count:
        raise InputError(f"{name}: expected 0 to {count - 1}, got {number}" if count else f"{name}: the skin has none")
    return number


def _support(skin: Skin, _: Motion, asked: Mapping[str, Any]) -> Answer:
    return {}, {"weights": support_weights(skin, _layer_of(skin, asked))}


def _component(skin: Skin, _: Motion, asked: Mapping[str, Any]) -> Answer:
    layer = _layer_of(skin, asked)
    sizes = component_sizes(skin, layer, _index("component", asked, layer.driver.components))
    return {"largest": float(sizes.max(initial=0.0))}, {"sizes": sizes}


_FIGURES: dict[str, Callable[[Skin, Motion, Mapping[str, Any]], Answer]] = {
    "skin": lambda skin, _, __: (skin_figures(skin), {}),
    "support": _support,
    "component": _component,
    "signals": lambda skin, motion, asked: signals(skin, motion, _layer_of(skin, asked)),
}
