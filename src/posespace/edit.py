"""Editing what a skin has learned: one signal weaker, stronger or mute, or all of them exaggerated."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from posespace.check import Floats
from posespace.errors import InputError
from posespace.packed import PackedBasis
from posespace.skin import Basis, Layer, Skin


def scaled(skin: Skin, scale: Mapping[str | int, float] | None = None, exaggerate: float = 1.0) -> Skin:
    """Return a skin whose corrections are stronger or weaker; see `Skin.edited`."""
    factors = [np.full(layer.driver.columns, float(exaggerate)) for layer in skin.layers]
    for name, factor in (scale or {}).items():
        number, signal = _find(skin, str(name))
        chosen = slice(None) if signal is None else signal
        factors[number][chosen] *= float(factor)
    if not all(np.isfinite(each).all() for each in factors):
        raise InputError("scale and exaggerate: expected finite factors")
    layers = tuple(_scaled_layer(layer, each) for layer, each in zip(skin.layers, factors, strict=True))
    done = {"scale": {str(name): float(factor) for name, factor in (scale or {}).items()}, "exaggerate": exaggerate}
    about = dict(skin.about)
    about["edits"] = [*about.get("edits", []), done]
    return replace(skin, layers=layers, about=about)


def _find(skin: Skin, name: str) -> tuple[int, int | None]:
    """The layer that a name speaks of, and the signal, or None for all of the layer."""
    names = [layer.name for layer in skin.layers]
    if name in names:
        return names.index(name), None
    layer, _, number = name.rpartition(":")
    if number.isdigit() and (layer in names or (not layer and len(names) == 1)):
        place = names.index(layer) if layer else 0
        most = skin.layers[place].driver.columns
        if not 1 <= int(number) <= most:
            raise InputError(f"signal {name!r}: expected 1 to {most} in layer {names[place]!r}")
        return place, int(number) - 1
    if not names:
        raise InputError(f"signal {name!r}: the skin has no layers")
    close = difflib.get_close_matches((layer or name)[:80], names, n=1, cutoff=0.0)[0]
    raise InputError(f"signal {name!r}: expected a layer, as {close!r}, or a signal of one, as {f'{close}:1'!r}")


def _scaled_layer(layer: Layer, factors: Floats) -> Layer:
    normal = layer.normal_basis
    if normal is not None and layer.normal_driver is not None:
        # Normals with coordinates of their own know nothing of the signals.
        if np.ptp(factors) > 0:
            raise InputError(f"layer {layer.name!r}: its normals have signals of their own; scale the whole layer")
        normal = _scaled_basis(normal, np.full(layer.normal_driver.columns, factors[0]))
    elif normal is not None:
        normal = _scaled_basis(normal, factors)
    return replace(layer, basis=_scaled_basis(layer.basis, factors), normal_basis=normal)


def _scaled_basis(basis: Basis, factors: Floats) -> Basis:
    if isinstance(basis, PackedBasis):
        return replace(basis, scales=(basis.scales * factors).astype(np.float32))
    return np.asarray(basis * factors[:, None, None], dtype=basis.dtype)
