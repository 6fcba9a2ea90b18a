"""A compiled player: single frames into arrays of your own, then a whole motion, with the time per frame.

Run: python examples/play_in_real_time.py
The first run takes some seconds to compile; compiled code is cached on disk.
"""

from statistics import median
from time import perf_counter

import numpy as np

import posespace as ps

train, unseen = ps.datasets.hand()
skin = ps.EigenSkin(components=5, bits=16, normals="shared").fit(train)
play = skin.compile()  # "gpu" plays by WebGPU; normals=False gives points alone, faster

motion = ps.Motion(np.tile(unseen.motion.rotations, (20, 1, 1)))  # 500 frames of rotations (500, J, 4)
points = np.empty((play.vertices, 3), np.float32)
normals = np.empty_like(points)
play(motion[0], points, normals)  # one frame to warm up

seconds = []
for pose in motion:
    start = perf_counter()
    play(pose, points, normals)  # writes into the arrays; nothing is allocated
    seconds.append(perf_counter() - start)
print(f"one frame of {play.vertices:,} vertices with normals: {median(seconds) * 1e6:.0f} microseconds")

for _ in play.many(motion[:10]):  # warm up
    pass
start = perf_counter()
for shape in play.many(motion):  # on all cores; each shape is valid until the next
    last = shape[0]
print(f"per frame of a batch: {(perf_counter() - start) / len(motion) * 1e6:.0f} microseconds")

reference, _ = skin.pose(motion[-1])
off = np.abs(last - reference).max() / skin.rig.mesh.diagonal
print(f"largest difference from skin.pose, as a fraction of the box diagonal: {off:.1e}")
