"""What a fit of a few sculpts does: its error where the truth is known, and how large its corrections are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import posespace as ps
from posespace.check import Floats
from posespace.geometry.edges import edges_of
from posespace.rivals import Method
from sculpting.cases import known, unknown
from sculpting.scripted import Script, noisy

RINGS = 2
"""Rings of vertices that make a vertex's neighbourhood."""

FLOOR = 0.02
"""A neighbourhood counts as sculpted by at least this fraction of the largest sculpted correction, since a fit may drop
smaller ones and store the others in few bits."""

BOUND = 1.5
"""Most that a correction may be, over the largest sculpted one of its neighbourhood."""

WORSE = 1.02
"""Most that the error at the fit's own sculpts may be, over that of plain skinning."""

Figures = dict[str, float]


def judged(method: Method, script: Script) -> Figures:
    """Fit the sculpts, as they are and with noise, and return the figures.

    The keys are "error CASE", relative to plain skinning; "largest CASE", of any vertex's correction over the largest
    sculpted one of its neighbourhood; "rms CASE", of all corrections over the largest of a sculpt. "noise" is the
    worst case of the fit with noise.
    """
    examples = script.examples(script.own)
    truths, motions = known(script), unknown(script)
    skin = method.fit(examples)
    errors = {f"error {name}": ps.evaluate(skin, truth).rel_err for name, truth in truths.items()}
    motions = {**{name: truth.motion for name, truth in truths.items()}, **motions}
    with_noise = noisy(examples)
    shaken = method.fit(with_noise)
    errors["error noise"] = ps.evaluate(shaken, examples).rel_err
    largest, rms = _corrections(shaken, with_noise, motions)
    sizes = _corrections(skin, examples, motions)
    for kind, figures, noise in zip(("largest", "rms"), sizes, (largest, rms), strict=True):
        errors |= {f"{kind} {name}": value for name, value in figures.items()}
        errors[f"{kind} noise"] = max(noise.values())
    return errors


def failed(figures: Figures) -> bool:
    """Whether a row is worse than plain skinning at its own sculpts, or has a correction beyond the bound."""
    own = max(figures["error own"], figures["error noise"])
    largest = max(value for key, value in figures.items() if key.startswith("largest"))
    return not (own <= WORSE and largest <= BOUND)


def _corrections(skin: ps.Skin, examples: ps.Examples, motions: dict[str, ps.Motion]) -> tuple[Figures, Figures]:
    """The largest correction and the root mean square of all in each case, both over what was sculpted."""
    # A fit may have weights of its own: what was sculpted is relative to them.
    sculpted = replace(examples, rig=skin.rig)
    residuals = np.stack([sculpted.residual(k)[0] for k in range(len(examples))])
    lengths = np.linalg.norm(residuals, axis=2)
    allowed = _around(skin.rig.mesh, lengths.max(axis=0))
    allowed = np.maximum(allowed, FLOOR * allowed.max())
    usual = float(np.sqrt(np.square(lengths).mean(axis=1).max()))
    largest, rms = {}, {}
    for name, motion in motions.items():
        added = np.stack([np.linalg.norm(skin.displacements(pose), axis=1) for pose in motion])
        largest[name] = float((added / allowed).max())
        rms[name] = float(np.sqrt(np.square(added).mean(axis=1).max())) / usual
    return largest, rms


def _around(mesh: ps.Mesh, values: Floats) -> Floats:
    """The largest of values (N,) within `RINGS` rings of each vertex, vertices of one position being one."""
    groups = mesh.weld.groups
    edges = edges_of(groups[mesh.triangles])[0]
    most = np.zeros(len(mesh.weld.first))
    np.maximum.at(most, groups, values)
    for _ in range(RINGS):
        wider = most.copy()
        for start, end in ((0, 1), (1, 0)):
            np.maximum.at(wider, edges[:, start], most[edges[:, end]])
        most = wider
    return np.asarray(most[groups])
