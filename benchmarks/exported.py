"""How large the built-in hand of 28k vertices is as a glTF file, with normals: sparse, quantized, by meshopt, dense.

Dense targets are what exporters write that know no supports; PSD with them is what EigenSkin was made to replace. Also
how far a file that is read back is from the skin it was made of. Run: uv run python benchmarks/exported.py [--json]
"""

from __future__ import annotations

import json
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from timing import show, wants_json

import posespace as ps
from posespace.formats.export import COMPRESSIONS

POSES = 5


def dense_copy(path: Path) -> int:
    """Write a copy of a GLB file whose targets are dense; return its bytes."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    content, binary = json.loads(data[20 : 20 + length]), data[28 + length :]
    views, sparse = content["bufferViews"], [each for each in content["accessors"] if "sparse" in each]
    left = {each["sparse"][part]["bufferView"] for each in sparse for part in ("indices", "values")}
    made = bytearray()
    for number, view in enumerate(views):
        raw = b"" if number in left else binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        view["byteOffset"] = len(made)
        made += raw
    for accessor in sparse:
        accessor["bufferView"] = len(views)
        views.append({"buffer": 0, "byteOffset": len(made), "byteLength": 12 * accessor["count"]})
        made += _dense(accessor.pop("sparse"), accessor["count"], json.loads(data[20 : 20 + length]), binary)
    content["buffers"][0]["byteLength"] = len(made)
    text = json.dumps(content, separators=(",", ":")).encode()
    whole = struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(made))
    whole += struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(made), 0x004E4942) + bytes(made)
    path.with_name("dense.glb").write_bytes(whole)
    return len(whole)


def _dense(sparse: dict[str, Any], count: int, content: dict[str, Any], binary: bytes) -> bytes:
    at, values = (content["bufferViews"][sparse[part]["bufferView"]]["byteOffset"] for part in ("indices", "values"))
    rows = np.frombuffer(binary, "<u2" if sparse["indices"]["componentType"] == 5123 else "<u4", sparse["count"], at)
    found = np.zeros((count, 3), "<f4")
    found[rows] = np.frombuffer(binary, "<f4", 3 * sparse["count"], values).reshape(-1, 3)
    return found.tobytes()


def misses(skin: ps.Skin, path: Path, poses: ps.Motion) -> dict[str, float]:
    """How far the file is from the skin when it is read back: points as parts of the box, normals in degrees."""
    back, apart, turned = ps.Skin.load(path), 0.0, []
    for pose in poses:
        (points, normals), (wanted, directions) = back.pose(pose), skin.pose(pose)
        apart = max(apart, float(np.abs(points - wanted).max()) / skin.rig.mesh.diagonal)
        turned.append(np.degrees(np.arccos(np.clip((normals * directions).sum(axis=1), -1, 1))))
    return {
        "points, of the box": float(f"{apart:.1e}"),
        "normals, mean degrees": round(float(np.mean(turned)), 3),
        "normals, 99.9 %": round(float(np.percentile(turned, 99.9)), 2),
    }


def main() -> None:
    as_json = wants_json()
    train, unseen = ps.datasets.hand(2)
    eigen, psd = (method.fit(train) for method in (ps.EigenSkin(normals="shared"), ps.PSD(normals="shared")))
    with tempfile.TemporaryDirectory() as name:
        path, sizes, rows = Path(name) / "hand.glb", dict[str, int](), list[dict[str, Any]]()
        for title, skin in (("EigenSkin", eigen), ("PSD", psd)):
            ps.export(skin, path)
            sizes[title] = dense_copy(path)
            rows.append({"file": f"{title}, dense targets", "MB": round(sizes[title] / 1e6, 2)})
        for bits in (16, 8):
            skin = eigen.packed(bits)
            for compression in COMPRESSIONS:
                ps.export(skin, path, compression=compression)
                size = path.stat().st_size
                row = {"file": f"EigenSkin, {bits} bits, {compression}", "MB": round(size / 1e6, 2)}
                row |= {"of its dense targets": round(size / sizes["EigenSkin"], 3)}
                row |= {"of dense PSD": round(size / sizes["PSD"], 3)}
                rows.append(row | misses(skin, path, unseen.motion[:POSES]))
        show(f"the hand of {len(train.rig.mesh.points)} vertices with normals as glTF", rows, as_json)


if __name__ == "__main__":
    main()
