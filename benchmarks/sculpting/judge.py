"""What a fit of a few sculpts does: its error where the truth is known, and how large its corrections are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

import posespace as ps
from posespace.check import Floats
from posespace.geometry.edges import edges_of
from posespace.poses.control_points import motion_from_shapes
from posespace.rivals import Method
from sculpting.cases import known, unknown
from sculpting.scripted import Script, noisy, noisy_motion

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
    worst case where every input has noise. What is not finite is the largest number there is.
    """
    examples, truths = script.examples(script.own), known(script)
    motions = {**{name: truth.motion for name, truth in truths.items()}, **unknown(script)}
    skin = _fitted(method, examples)
    figures = {f"error {name}": ps.evaluate(skin, truth).rel_err for name, truth in truths.items()}
    figures |= corrections(skin, examples, motions)
    shaken = noisy(examples)
    skin = _fitted(method, shaken)
    figures["error noise"] = ps.evaluate(skin, examples).rel_err
    worst = corrections(skin, shaken, {name: noisy_motion(motion, examples.rig) for name, motion in motions.items()})
    for kind in ("largest", "rms"):
        figures[f"{kind} noise"] = float(np.max([worst[f"{kind} {name}"] for name in motions]))
    return {key: float(np.nan_to_num(value, nan=np.inf)) for key, value in figures.items()}


def _fitted(method: Method, examples: ps.Examples) -> ps.Skin:
    skin = method.fit(examples)
    assert isinstance(skin, ps.Skin), "only a skin has corrections to measure"
    return skin


def failed(figures: Figures) -> bool:
    """Whether a row is worse than plain skinning at its own sculpts, or has a correction beyond the bound."""
    own = max(figures["error own"], figures["error noise"])
    return own > WORSE or max(value for key, value in figures.items() if key.startswith("largest")) > BOUND


def corrections(skin: ps.Skin, examples: ps.Examples, motions: dict[str, ps.Motion]) -> Figures:
    """Return the largest correction in each case and the root mean square of all, both over what was sculpted."""
    sculpted = _sculpted(skin, examples)
    # What a fit adds at its own sculpts may be a little more than what was sculpted.
    given = np.maximum(sculpted.max(axis=0), _added(skin, examples.rig, examples.motion).max(axis=0))
    allowed = _around(examples.rig.mesh, given)
    allowed = np.maximum(allowed, FLOOR * allowed.max())
    figures = {}
    for name, motion in motions.items():
        added = _added(skin, examples.rig, motion)
        figures[f"largest {name}"] = float(_ratio(added, allowed).max())
        figures[f"rms {name}"] = float(_ratio(_rms(added), _rms(sculpted).max()).max())
    return figures


def _sculpted(skin: ps.Skin, examples: ps.Examples) -> Floats:
    """The lengths (P, N) of the corrections that were sculpted, or of control points' own at the sculpts."""
    if len(skin.bones.points):
        return _added_by_points(skin, examples)
    # A fit may have weights of its own: what was sculpted is relative to them.
    relative = replace(examples, rig=skin.rig)
    return _lengths(relative.residual(k)[0] for k in range(len(examples)))


def _added(skin: ps.Skin, rig: ps.Rig, motion: ps.Motion) -> Floats:
    """The lengths (P, N) of the corrections at some poses; control points are where plain skinning has them."""
    if not len(skin.bones.points):
        return _lengths(map(skin.displacements, motion))
    return _added_by_points(skin, ps.Examples.from_shapes(rig, motion, [rig.skin(pose) for pose in motion]))


def _added_by_points(skin: ps.Skin, examples: ps.Examples) -> Floats:
    """The lengths (P, N) of the corrections where control points follow shapes."""
    motion = motion_from_shapes(examples, skin.rig, skin.bones.points)
    return _lengths(skin.corrections(skin.drive(pose).amounts) for pose in motion)


def _lengths(displacements: Iterable[Floats]) -> Floats:
    return np.stack([np.linalg.norm(displacement, axis=1) for displacement in displacements])


def _rms(lengths: Floats) -> Floats:
    """The root mean square (P,) of lengths (P, N)."""
    return np.asarray(np.sqrt(np.square(lengths).mean(axis=1)))


def _ratio(values: Floats, over: Floats) -> Floats:
    """Values over others; where these are zero, 0 for no value and infinite for any."""
    return np.divide(
        values, over, out=np.where(values == 0, 0.0, np.inf), where=np.broadcast_to(over > 0, values.shape)
    )


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
