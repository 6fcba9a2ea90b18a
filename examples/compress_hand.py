"""EigenSkin on the built-in simulated hand: error and bytes with fewer components and fewer bits.

Run: python examples/compress_hand.py
"""

import posespace as ps

train, _ = ps.datasets.hand()  # 117 poses of single joints
unseen = ps.datasets.hand_between()  # 66 other angles of single joints
skin = ps.EigenSkin(components=5, bits=32).fit(train)  # components are ordered by importance

variants = {
    "5 components, 32 bits": skin,
    "5 components, 16 bits": skin.packed(16),
    "5 components, 8 bits": skin.packed(8),
    "2 components, 16 bits": skin.truncated(2).packed(16),
    "1 component, 16 bits": skin.truncated(1).packed(16),
}
print("error on unseen poses, plain skinning being 1, and bytes per vertex excluding the rig:")
for name, variant in variants.items():
    score = ps.evaluate(variant, unseen)
    print(f"{name:22} {score.rel_err:.4f} {score.bytes_per_vertex:6.1f}")
