"""Fourteen shapes of a hand, no rig: fit a hand that follows a few control points, then drag one of them.

Run: python examples/drag_points.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import posespace as ps

hand = ps.datasets.scanned_hand(vertices=1000)  # shapes in correspondence, as from `posespace register`
examples = replace(hand.examples, heights=hand.heights, levels=1)
kept = [k for k, name in enumerate(hand.names) if name != "pinch"]

skin = ps.ControlPoints(points=20, bones=40).fit(examples[kept])
score = ps.evaluate(skin, examples[[hand.names.index("pinch")]])
print(f"a pinch that it never saw: RMS {score.rms:.4f} of the hand's length, heights off by {score.height_rms:.3f} mm")

tip = int(np.argmax(skin.rig.skeleton.rest_world[1:, 1, 3])) + 1  # the point nearest to a fingertip
dragged = skin.rig.rest.translations.copy()
dragged[tip] += (0.0, -25.0, -25.0)  # millimetres
play = skin.compile()
rest, bent = (
    play(ps.Pose(skin.rig.rest.rotations, translations))[0].copy()
    for translations in (skin.rig.rest.translations, dragged)
)
moved = np.linalg.norm(bent - rest, axis=1)
print(f"{skin.rig.skeleton.names[tip]} dragged by 35 mm: {(moved > 1).mean():.0%} of {len(moved):,} vertices follow")
