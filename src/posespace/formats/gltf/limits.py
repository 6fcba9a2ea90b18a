"""Joint limits in glTF: in the `extras` of the joints' nodes, where other programs keep them.

A joint's limits are an object such as ``{"x": [0, 140]}``, in degrees from rest about its axes, which are those of its
node unless its extras give others: three rows of three numbers, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from posespace.errors import FileError, quoted
from posespace.formats import files
from posespace.formats.checked_json import Fields
from posespace.formats.gltf import Opened
from posespace.formats.gltf.extension import EXTENSION
from posespace.formats.gltf.nodes import LIMITS_KEY
from posespace.formats.gltf.write.buffers import save_container
from posespace.formats.gltf.write.drivers import driver_limits
from posespace.formats.gltf.write.joints import joint_extras
from posespace.skeleton import Ranges, Skeleton

Json = dict[str, Any]


def write(source: Path, out: Path, ranges: Ranges) -> None:
    """Write a copy of a glTF file in which its rig has these limits and no others; all else stays as it is."""
    if out.suffix.lower() != source.suffix.lower():
        raise FileError(out, f"expected a file that ends in {source.suffix}, as {source.name} does")
    with files.naming(source):
        opened = Opened.of(source)
        if not opened.bindings:
            raise FileError(source, "holds no rig")
        root, nodes = opened.document.root.values, opened.joints(opened.bindings[0])
        _require_beside(source, out, opened.document.root)
        skeleton = opened.rig(opened.bindings[0]).skeleton.with_ranges(ranges)
        _put_extras(root, nodes, skeleton)
        _put_drivers(root, nodes, skeleton)
    save_container(out, root, opened.document.binary)


def _require_beside(source: Path, out: Path, root: Fields) -> None:
    """Raise if a file that names others beside it would be written where they are not."""
    named = [part for kind in ("buffers", "images") for part in root.parts(kind, kind[:-1], ())]
    referred = next((part.text("uri") for part in named if "uri" in part and part.text("uri")[:5] != "data:"), None)
    if referred is not None and out.absolute().parent.resolve() != source.absolute().parent.resolve():
        raise FileError(out, f"expected the folder of {source}, since the file refers to {quoted(referred)} beside it")


def _put_extras(root: Json, nodes: Sequence[int], skeleton: Skeleton) -> None:
    for number, extras in zip(nodes, joint_extras(skeleton), strict=True):
        node = root["nodes"][number]
        kept = node.get("extras") if isinstance(node.get("extras"), dict) else {}
        changed = {key: value for key, value in kept.items() if key != LIMITS_KEY} | extras
        node.pop("extras", None)
        if changed:
            node["extras"] = changed


def _put_drivers(root: Json, nodes: Sequence[int], skeleton: Skeleton) -> None:
    """Change the limits that the file's drivers have for players, where it has drivers."""
    drivers = Fields(root, "the file").part("extensions", {}).part(EXTENSION, {})
    limits = {} if skeleton.limits is None else dict(zip(nodes, skeleton.limits, strict=True))
    for entry in drivers.parts("joints", "joint", ()):
        node = entry.integer("node")
        entry.values.pop("limits", None)
        if node in limits:
            entry.values.update(driver_limits(limits[node]))
