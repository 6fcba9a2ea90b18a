"""Edits of a skin: components weaker, stronger or muted, all exaggerated, or control points pulling harder."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError, closest_name
from posespace.skin.basis import Basis, PackedBasis
from posespace.skin.bones.learned import learned_bones
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin


def scaled(skin: Skin, scale: Mapping[str | int, float] | None = None, exaggerate: float = 1.0) -> Skin:
    """Return a skin whose corrections are stronger or weaker; see `Skin.edited`."""
    by_name = _checked(scale)
    if not skin.layers and (by_name or exaggerate != 1):
        raise InputError("edit: expected a skin with layers, whose corrections can be scaled; this one has none")
    factors = _factors(skin, by_name, check.number("exaggerate", exaggerate))
    if not all(np.isfinite(row).all() for row in factors):
        raise InputError("scale and exaggerate: expected finite factors")
    layers = tuple(scaled_layer(layer, row) for layer, row in zip(skin.layers, factors, strict=True))
    edit = {"scale": by_name, "exaggerate": float(exaggerate)}
    about = dict(skin.about)
    about["edits"] = [{"scale": names, "exaggerate": factor} for names, factor in _past(skin)] + [edit]
    return replace(skin, layers=layers, about=about)


def with_beta(skin: Skin, beta: float) -> Skin:
    """Return a skin whose control points have the weight `beta`.

    About 3 where points are dragged and should be reached, 0.3 where they are captured and noisy.
    """
    return replace(skin, bones=replace(learned_bones(skin.bones, "beta"), beta=beta))


def edit_summary(skin: Skin) -> str:
    """Return a skin's edits in one line, "" where it has none."""
    words: list[str] = []
    for scale, exaggerate in _past(skin):
        words += [f"{name} times {factor:g}" for name, factor in scale.items()]
        words += [f"everything times {exaggerate:g}"] if exaggerate != 1 else []
    return ", ".join(words)


def edit_factors(skin: Skin) -> list[Floats]:
    """Return for each layer the factors (C,) that all edits of a skin together have put on its components."""
    total: list[Floats] = [np.ones(layer.driver.components) for layer in skin.layers]
    for scale, exaggerate in _past(skin):
        # A component may be gone: truncated after the edit.
        for name, factor in scale.items():
            with suppress(InputError):
                total = [a * b for a, b in zip(total, _factors(skin, {name: factor}, 1.0), strict=True)]
        total = [factors * exaggerate for factors in total]
    return total


def _past(skin: Skin) -> list[tuple[dict[str, float], float]]:
    """The edits recorded in a skin; a file may hold anything there, and what is no edit is ignored."""
    recorded = skin.about.get("edits")
    edits = []
    for edit in recorded if isinstance(recorded, list) else []:
        with suppress(InputError, KeyError, TypeError):
            edits.append((_checked(edit["scale"]), check.number("exaggerate", edit["exaggerate"])))
    return edits


def _checked(scale: Mapping[str | int, float] | None) -> dict[str, float]:
    """The factors by name."""
    if scale is None:
        return {}
    if not isinstance(scale, Mapping):
        raise InputError(f"scale: expected factors by name, e.g. {{3: 0.5}}, got a {type(scale).__name__}")
    return {str(name): check.number(f"scale of {name!r}", factor) for name, factor in scale.items()}


def _factors(skin: Skin, scale: Mapping[str, float], exaggerate: float) -> list[Floats]:
    """For each layer the factors (C,) of its components; a component that is named twice is an error."""
    factors: list[Floats] = [np.full(layer.driver.components, exaggerate) for layer in skin.layers]
    seen: set[tuple[int, int | None]] = set()
    for name, factor in scale.items():
        number, component = _find(skin, name)
        if (number, component) in seen:
            raise InputError(f"scale of {name!r}: expected each component once, got it twice")
        seen.add((number, component))
        factors[number][slice(None) if component is None else component] *= factor
    return factors


def _find(skin: Skin, name: str) -> tuple[int, int | None]:
    """The layer that a name stands for, and the component, or None for the whole layer."""
    names = [layer.name for layer in skin.layers]
    if name in names:
        return names.index(name), None
    layer, _, number = name.rpartition(":")
    if number.isdigit() and (layer in names or (not layer and len(names) == 1)):
        index = names.index(layer) if layer else 0
        most = skin.layers[index].driver.components
        if not 1 <= int(number) <= most:
            raise InputError(f"component {name!r}: expected 1 to {most} in layer {names[index]!r}")
        return index, int(number) - 1
    if not names:
        raise InputError(f"component {name!r}: the skin has no layers")
    close = closest_name(layer or name, names)
    raise InputError(
        f"component {name!r}: expected a layer, e.g. {close}, or one of its components, e.g. {close[:-1]}:1{close[-1]}"
    )


def scaled_layer(layer: Layer, factors: Floats) -> Layer:
    """Return a layer with its components multiplied by factors (C,)."""
    normal = layer.normal_basis
    if normal is not None and layer.normal_driver is not None:
        # Normals with a driver of their own do not follow the components of the points.
        if np.ptp(factors) > 0:
            raise InputError(f"layer {layer.name!r}: its normals have components of their own; scale the whole layer")
        normal = _scaled_basis(normal, np.full(layer.normal_driver.components, factors[0]))
    elif normal is not None:
        normal = _scaled_basis(normal, factors)
    return replace(layer, basis=_scaled_basis(layer.basis, factors), normal_basis=normal)


def _scaled_basis(basis: Basis, factors: Floats) -> Basis:
    if isinstance(basis, PackedBasis):
        return replace(basis, scales=(basis.scales * factors).astype(np.float32))
    return np.asarray(basis * factors[:, None, None], dtype=basis.dtype)
