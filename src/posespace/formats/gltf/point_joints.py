"""The joints of a file whose bones are learned: a root and control points, which `POSESPACE_drivers` lists.

The glTF skin's joints are the bones there, so what a pose and a clip move is found by the extension.
"""

from __future__ import annotations

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.accessors import Accessors
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.extension import BONES_AND_DETAIL, EXTENSION


def learned_part(document: Document) -> Fields | None:
    """Return what a file says of learned bones; None where joints are the bones."""
    fields = document.root.part("extensions", {}).part(EXTENSION, {})
    if fields.values.get("version") != BONES_AND_DETAIL or "bones" not in fields:
        return None
    return fields.part("bones", where=f"{EXTENSION}: bones")


def point_nodes(document: Document, count: int) -> list[int]:
    """Return the nodes, below `count`, of the root and the control points."""
    fields = document.root.part("extensions").part(EXTENSION)
    nodes = [joint.integer("node", below=count) for joint in fields.parts("joints", "joint")]
    if len(nodes) < 2 or len(set(nodes)) < len(nodes):
        raise InputError(f"{EXTENSION}: joints: expected the nodes of a root and control points, each once")
    return nodes


def plain_weights(document: Document, part: Fields, vertices: int, joints: int) -> tuple[Ints, Floats]:
    """Return the weights of plain skinning by `joints`: their numbers (N, P) and weights (N, P)."""
    accessors = Accessors(document, part.part("plain"))
    slots = accessors.axis("weights", vertices)
    influences = accessors.whole("influences", (vertices, slots), below=joints)
    return influences, accessors.real("weights", (vertices, slots))
