"""The check of a fit's result: layers that raise the error at its examples are weakened or dropped.

No skin may be worse than plain skinning at the shapes it was fitted to. What was changed is in the skin's notes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.regression import evenly_spread
from posespace.poses.parts import parts_of
from posespace.progress import track
from posespace.skin.basis import combined
from posespace.skin.edit import scaled_layer
from posespace.skin.layer import Layer
from posespace.skin.provenance import EXAMPLES_ERROR, notes_of, with_notes
from posespace.skin.skin import Skin

ENOUGH, WORSE = 4, 1.2
"""At least this many examples of one pose space are needed to tell whether they predict one another. They do not, if
their leave-one-out error is more than this fraction of plain skinning's."""

_POSES = 256
"""Most examples, spread evenly, that are checked: among fewer, a layer for two joints may act on hardly any."""

_ROUNDS = 3
_LEAST = 0.05
"""A layer that would be weakened to less than this is dropped."""

_WORSE = 1.0 + 1e-3
"""A layer is weakened where the squared error without it is lower by more than this; less may be rounding."""


def do_not_predict(what: str, error: float) -> str:
    """Return the note on examples, called `what`, whose leave-one-out error is above plain skinning's."""
    return f"its {what} do not predict one another ({error:.2f} of plain skinning's error by leave-one-out)"


def checked(skin: Skin, examples: Examples, residuals: Sequence[Floats] | None = None) -> Skin:
    """Return a skin whose layers all lower the error at the examples it was fitted to.

    Those that raise it are weakened by the factor that helps most, or dropped; each is named in the skin's notes.
    The `residuals` (N, 3) of the examples may be given.
    """
    numbers = evenly_spread(len(examples), _POSES)
    lines, sampled = list[str](), replace(examples, rig=skin.rig)[numbers]
    known = None if residuals is None else [residuals[number] for number in numbers]
    for _ in range(_ROUNDS):
        layers, done, ratio = _improved(skin, sampled, known)
        if not done:
            break
        skin, lines = replace(skin, layers=tuple(layers)), lines + done
    else:
        ratio = _improved(skin, sampled, known)[2]
    if ratio > 1.0:
        skin, ratio = replace(skin, layers=()), 1.0
        lines.append("every layer is dropped: the skin was worse than plain skinning at its own examples")
    return skin.described(with_notes({**skin.about, EXAMPLES_ERROR: round(ratio, 4)}, lines))


def said(skin: Skin) -> Skin:
    """Return a skin after a warning for each of its notes; called once per fit, which may try several skins."""
    for line in notes_of(skin.about):
        warnings.warn(line, stacklevel=3)
    return skin


def _improved(
    skin: Skin, examples: Examples, residuals: Sequence[Floats] | None
) -> tuple[list[Layer], list[str], float]:
    """The layers, with those that raise the error weakened or dropped; a note on each of these; and the error before.

    The error is the root of the summed squares, as a fraction of plain skinning's.
    """
    error, plain, along, sizes = 0.0, 0.0, np.zeros(len(skin.layers)), np.zeros(len(skin.layers))
    parts = parts_of(skin.rig.skeleton).of(examples.motion)
    driven = [skin.coordinates(layer.driver, examples.motion, parts) for layer in skin.layers]
    for index in track(range(len(examples)), "check at the examples"):
        added = [combined(layer.basis, values[index]) for layer, values in zip(skin.layers, driven, strict=True)]
        errors = -(examples.residual(index)[0] if residuals is None else residuals[index])
        plain += float(np.square(errors).sum())
        for layer, moved in zip(skin.layers, added, strict=True):
            errors[layer.support] += moved
        error += float(np.square(errors).sum())
        for k, (layer, moved) in enumerate(zip(skin.layers, added, strict=True)):
            along[k] += float((errors[layer.support] * moved).sum())
            sizes[k] += float(np.square(moved).sum())
    layers, lines = [], []
    for layer, product, size in zip(skin.layers, along.tolist(), sizes.tolist(), strict=True):
        # Without the layer the squared error is error - 2 · product + size.
        if error <= _WORSE * (error - 2 * product + size) or size == 0:
            layers.append(layer)
            continue
        factor = max(0.0, 1.0 - product / size)
        why = "it raises the error at the examples it was fitted to"
        if factor < _LEAST:
            lines.append(f"layer {layer.name!r} is dropped: {why}")
        else:
            layers.append(scaled_layer(layer, np.full(layer.driver.components, factor)))
            lines.append(f"layer {layer.name!r} is weakened to {factor:.2f}: {why}")
    return layers, lines, float(np.sqrt(error / plain)) if plain > 0 else 0.0
