"""A clip of an arm as six signals that the skeleton drives, then edited: one signal muted, the rest made stronger.

Run: python examples/clip_to_muscles.py
"""

import numpy as np

import posespace as ps

train, unseen = ps.datasets.arm()  # a simulated arm: 80 frames to fit on, 20 held out
skin = ps.Muscles(signals=6).fit(train)
score = ps.evaluate(skin, unseen)
print(f"error on unseen frames, plain skinning being 1: {score.rel_err:.4f}")
print(f"largest error: {score.max_error:.3f} mm, {score.bytes_per_vertex:.1f} bytes per vertex excluding the rig")

(coordinates,) = skin.drive(unseen.motion[0]).coordinates  # one layer, one coordinate per signal
print("signals of an unseen frame:", np.array2string(coordinates, precision=2, suppress_small=True))

edited = skin.edited(scale={3: 0.0}, exaggerate=1.2)  # signals count from 1; 0 mutes
moved = np.linalg.norm(edited.pose(unseen.motion[0])[0] - skin.pose(unseen.motion[0])[0], axis=1)
print(f"editing moves vertices of that frame by up to {moved.max():.1f} mm")
