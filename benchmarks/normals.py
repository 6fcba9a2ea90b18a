"""How well normals are shaded: where posespace plays a skin, and where a program plays its exported file."""

from __future__ import annotations

import json

import numpy as np

import posespace as ps
from posespace import datasets
from posespace.evaluation.score import angles_between


def exported_degrees(skin: ps.Skin, examples: ps.Examples) -> float:
    """Mean angle to the true normals where rest normals and their corrections are moved by the blended bones."""
    means = []
    for pose, shape in examples:
        normals = skin.rig.normals + skin.normal_displacements(pose)
        moved = np.einsum("nij,nj->ni", skin.rig.blend(pose)[:, :, :3], normals)
        moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-12)
        means.append(angles_between(moved, examples.rig.mesh.normals(shape)).mean())
    return round(float(np.mean(means)), 2)


def main() -> None:
    """Print a row per method and setting, fitted on single joints, and on these, pairs and grasps."""
    single, unseen = datasets.hand()
    between = datasets.hand_between()
    sets = {"single joints": single, "single joints, pairs, grasps": single.joined(datasets.hand_together())}
    for name, train in sets.items():
        for method in (ps.PSD, ps.EigenSkin):
            for normals in ("none", "shared"):
                skin = method(normals=normals).fit(train)
                score = ps.evaluate(skin, unseen)
                row = {
                    "fitted on": name,
                    "method": method.__name__,
                    "normals": normals,
                    "exported, single angles": exported_degrees(skin, between),
                    "exported, random poses": exported_degrees(skin, unseen),
                    "posespace, random poses": round(score.normal_degrees, 2),
                    "bytes per vertex": round(score.bytes_per_vertex, 1),
                }
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
