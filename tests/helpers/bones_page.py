"""A player of version 2 of `POSESPACE_drivers`, written from docs/drivers.md alone, without the library."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from helpers.drivers_page import accessor, coordinates_at, driven_targets, limits_of, parsed, times


class PagePlayer:
    """A file without compression, of one primitive."""

    def __init__(self, path: Path) -> None:
        self.path, (self.content, self.binary) = path, parsed(path)
        self.file = self.content["extensions"]["POSESPACE_drivers"]
        (mesh,) = self.content["meshes"]
        (primitive,) = mesh["primitives"]
        attributes = primitive["attributes"]
        self.v = accessor(self.content, self.binary, attributes["POSITION"])
        self.corners = accessor(self.content, self.binary, primitive["indices"]).astype(int).reshape(-1, 3)
        count = sum(name.startswith("JOINTS") for name in attributes)
        four = [accessor(self.content, self.binary, attributes[f"JOINTS_{k}"]).astype(int) for k in range(count)]
        weights = [accessor(self.content, self.binary, attributes[f"WEIGHTS_{k}"]) for k in range(count)]
        self.bones = len(self.content["skins"][0]["joints"]) - 1
        self.w = np.zeros((len(self.v), self.bones))
        rows = np.repeat(np.arange(len(self.v)), 4 * count)
        np.add.at(self.w, (rows, np.concatenate(four, axis=1).ravel()), np.concatenate(weights, axis=1).ravel())
        self.targets = driven_targets(self.content, self.binary)
        self.learned = self.file["bones"]
        self.points, self.near = self.array("points").astype(int), self.array("near", self.bones).astype(int)
        self.centres = self.array("centres", self.bones, 3)
        self.rest, self.samples, self.widths = self.exact()
        self.local_samples = [self.local(y) for y in self.samples]
        self.corrections = np.zeros((0, *self.v.shape))
        if "corrections" in self.learned:
            self.corrections = self.scaled(self.learned["corrections"], "values").reshape(-1, *self.v.shape)
        at_samples = [np.linalg.norm(self.displaced(self.predicted(y)[1]), axis=1) for y in self.samples]
        self.limits = limits_of(np.max(at_samples, axis=0), self.targets["position"], self.targets["corners"])

    def array(self, name: str, *shape: int) -> Any:
        values = accessor(self.content, self.binary, self.learned[name])[:, 0]
        return values.reshape(*shape, -1) if len(shape) == 1 else values.reshape(shape or -1)

    def exact(self) -> tuple[Any, Any, Any]:
        """The points at rest, the samples and the widths in 64 bits."""
        view = self.content["bufferViews"][self.file["numbers"]]
        numbers = np.frombuffer(self.binary, "<f8", view["byteLength"] // 8, view["byteOffset"])[
            self.learned["exact"] :
        ]
        points, found = (len(self.points), 3), []
        models = self.array("widths").size // self.bones
        for shape in (points, (self.array("samples").size // math.prod(points), *points), (self.bones, models)):
            found.append(numbers[: math.prod(shape)].reshape(shape))
            numbers = numbers[math.prod(shape) :]
        rest, samples, widths = found
        return rest, samples, widths

    def scaled(self, part: dict[str, Any], name: str) -> Any:
        values = accessor(self.content, self.binary, part[name])[:, 0]
        if part["bits"] == 32:
            return values
        scales = accessor(self.content, self.binary, part["scales"])
        return (values.reshape(len(scales), -1) * scales).ravel()

    def pose(self, rotations: Any, shifts: Any, controls: dict[str, float]) -> tuple[Any, Any]:
        """Points and normals where the joints' nodes are rotated, and moved by shifts from their rest."""
        p = self.places(rotations, shifts)
        a = self.array("anchors")
        r_mean, p_mean = a @ self.rest, a @ p
        g_rotation = nearest(np.einsum("k,ki,kj->ij", a, p - p_mean, self.rest - r_mean))
        g = p_mean - g_rotation @ r_mean
        y = (p - g) @ g_rotation
        turns, amounts = self.predicted(y)
        x = self.positions(turns, y)
        u = self.displaced(amounts)
        with np.errstate(divide="ignore", invalid="ignore"):
            over = np.linalg.norm(u, axis=1) / self.limits
        u = u / np.maximum(np.nan_to_num(over), 1)[:, None]
        coordinates = self.driven(y, controls)
        moved = self.v + u + self.layers(coordinates)
        linear = g_rotation @ turns
        shift = (x + self.centres) @ g_rotation.T + g - np.einsum("bij,bj->bi", linear, self.centres)
        blend = np.einsum("nb,bij->nij", self.w, linear)
        points = np.einsum("nij,nj->ni", blend, moved) + self.w @ shift
        return self.finished(points, amounts, coordinates, blend)

    def places(self, rotations: Any, shifts: Any) -> Any:
        """The positions in the world of the control points' nodes."""
        nodes, joints = self.content["nodes"], [joint["node"] for joint in self.file["joints"]]
        above = {child: k for k, node in enumerate(nodes) for child in node.get("children", [])}

        def world(k: int) -> Any:
            here = np.eye(4)
            here[:3, 3] = nodes[k].get("translation", [0, 0, 0])
            turn = nodes[k].get("rotation", [0, 0, 0, 1])
            if k in joints:
                here[:3, 3] += shifts[joints.index(k)]
                turn = rotations[joints.index(k)]
            here[:3, :3] = matrix(turn)
            return world(above[k]) @ here if k in above else here

        rest = np.eye(3)
        k = joints[0]
        while True:
            rest = matrix(nodes[k].get("rotation", [0, 0, 0, 1])) @ rest
            if k not in above:
                break
            k = above[k]
        self.root_rotation = rest
        return np.array([world(node)[:3, 3] for node in joints[1:]])

    def local(self, y: Any) -> tuple[Any, Any]:
        """The points of each bone, and its Q."""
        if "holds" not in self.learned:
            return y[self.near], np.tile(np.eye(3), (self.bones, 1, 1))
        holds, found, frames = self.array("holds", self.bones), [], []
        for h, near in zip(holds, self.near, strict=True):
            r, z = self.rest[near] - h @ self.rest[near], y[near] - h @ y[near]
            upright = 0.01 * (h @ (r * r).sum(axis=1)) + 1e-30
            frames.append(nearest(np.einsum("c,ci,cj->ij", h, z, r) + upright * np.eye(3)))
            found.append(z @ frames[-1])
        return np.array(found), np.array(frames)

    def predicted(self, y: Any) -> tuple[Any, Any]:
        """The rotations of the bones and their amounts."""
        points, frames = self.local(y)
        squares = np.stack([((points - there) ** 2).sum(axis=(1, 2)) for there, _ in self.local_samples], axis=1)
        widths, models, samples = self.widths, self.widths.shape[1], len(self.samples)
        offsets = self.array("offsets", self.bones, models, -1)
        coefficients = self.array("coefficients", self.bones, models, samples, -1)
        heat, turns, amounts = self.array("heat"), [], []
        for b in range(self.bones):
            values = [
                offsets[b, m] + np.exp(-squares[b] / 2 / widths[b, m] ** 2) @ coefficients[b, m] for m in range(models)
            ]
            quaternions = [unit(value[:4]) for value in values]
            chosen = (
                [0] if models == 1 else sorted(range(models), key=lambda m: squares[b, m])[: self.learned["blended"]]
            )
            e = np.array([np.exp(-(squares[b, m] - squares[b, chosen[0]]) / 2 / heat[b] ** 2) for m in chosen])
            signs = [-1 if quaternions[m] @ quaternions[chosen[0]] < 0 else 1 for m in chosen]
            total = sum(weight * sign * quaternions[m] for weight, sign, m in zip(e, signs, chosen, strict=True))
            turns.append(frames[b] @ matrix(unit(total) if models > 1 else total))
            amounts.append(sum(weight * values[m][4:] for weight, m in zip(e, chosen, strict=True)) / e.sum())
        return np.array(turns), np.array(amounts)

    def positions(self, turns: Any, y: Any) -> Any:
        """How far the centre of each bone moves."""
        beta, corners = self.learned["beta"], self.corners
        pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        edges = np.unique(np.sort(pairs, axis=1), axis=0)
        matrix_a, right = np.zeros((self.bones, self.bones)), np.zeros((self.bones, 3))
        less = turns - np.eye(3)
        ties = self.array("ties").astype(int).reshape(-1, 2) if "ties" in self.learned else []
        for (i, j), weight in [*((edge, 1.0) for edge in edges), *((tie, 0.1) for tie in ties)]:
            if i == j:
                continue
            f = self.w[i] - self.w[j]
            m = 0.5 * np.outer(self.w[i] + self.w[j], self.v[i] - self.v[j])
            m += -self.w[i][:, None] * (self.v[i] - self.centres) + self.w[j][:, None] * (self.v[j] - self.centres)
            matrix_a += weight * np.outer(f, f)
            right += weight * np.outer(f, np.einsum("bij,bj->i", less, m))
        for k, vertex in enumerate(self.points):
            w = self.w[vertex]
            matrix_a += beta * np.outer(w, w)
            follows = y[k] - self.rest[k] - np.einsum("b,bij,bj->i", w, less, self.v[vertex] - self.centres)
            right += beta * np.outer(w, follows)
        matrix_a += 1e-10 * (np.trace(matrix_a) / self.bones + 1e-300) * np.eye(self.bones)
        return np.linalg.solve(matrix_a, right)

    def displaced(self, amounts: Any) -> Any:
        k = len(self.corrections)
        return np.einsum("nk,kni->ni", self.w @ amounts[:, :k], self.corrections)

    def driven(self, y: Any, controls: dict[str, float]) -> list[Any]:
        """The coordinates of each driver in the aligned pose."""
        joints = self.file["joints"]
        shifts = np.zeros((len(joints), 3))
        shifts[1:] = (y - self.rest) @ self.root_rotation
        return coordinates_at(self.path, np.array([joint["rest"] for joint in joints]), shifts, controls)

    def layers(self, coordinates: list[Any]) -> Any:
        total = np.zeros(self.v.shape)
        for values, layers in zip(coordinates, self.targets["drivers"], strict=True):
            for layer in layers:
                for component, first, moved in layer:
                    total[first : first + len(moved)] += values[component] * moved
        return total

    def finished(self, points: Any, amounts: Any, coordinates: list[Any], blend: Any) -> tuple[Any, Any]:
        """The points with detail, and the normals."""
        if "detail" not in self.file:
            if len(self.corrections) or self.file["layers"]:
                return points, normals(points, self.corners, groups(self.v, self.corners))
            at_rest = normals(self.v, self.corners, groups(self.v, self.corners))
            carried = np.array([np.linalg.det(m) * np.linalg.inv(m).T @ n for m, n in zip(blend, at_rest, strict=True)])
            return points, carried / np.linalg.norm(carried, axis=1, keepdims=True)
        detail = self.file["detail"]
        # Midpoints of the rest are found in single precision, in which it is stored.
        rest, corners = self.v.astype(np.float32), self.corners
        raised = self.w @ amounts[:, len(self.corrections) :]
        for _ in range(detail["levels"]):
            (points, raised, rest), corners = subdivided((points, raised, rest), corners)
        if "driver" in detail:
            raised = np.tile(coordinates[detail["driver"]], (len(points), 1))
        heights = self.scaled(detail, "heights").reshape(raised.shape[1], -1)
        shared = groups(rest.astype(float), corners)
        points = points + (raised * heights.T).sum(axis=1)[:, None] * normals(points, corners, shared)
        return points, normals(points, corners, shared)


def nearest(a: Any) -> Any:
    """The rotation nearest to a matrix."""
    u, _, vt = np.linalg.svd(a)
    return u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt


def unit(quaternion: Any) -> Any:
    length = np.linalg.norm(quaternion)
    return np.array([0.0, 0.0, 0.0, 1.0]) if length < 1e-12 else quaternion / length


def matrix(quaternion: Any) -> Any:
    x, y, z, w = quaternion
    columns = [times(times((x, y, z, w), (*axis, 0)), (-x, -y, -z, w))[:3] for axis in np.eye(3)]
    return np.array(columns).T


def subdivided(values: tuple[Any, ...], corners: Any) -> tuple[list[Any], Any]:
    """Values of each vertex, and the triangles, of the next finer surface."""
    count = len(values[0])
    ends = sorted({(min(pair), max(pair)) for a, b, c in corners.tolist() for pair in ((a, b), (b, c), (c, a))})
    number = {pair: count + k for k, pair in enumerate(ends)}
    first, second = np.array(ends).T
    finer = []
    for a, b, c in corners.tolist():
        ab, bc, ca = (number[min(pair), max(pair)] for pair in ((a, b), (b, c), (c, a)))
        finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return [np.concatenate([each, (each[first] + each[second]) / 2]) for each in values], np.array(finer)


def areas(points: Any, corners: Any) -> Any:
    a, b, c = (points[corners[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def groups(rest: Any, corners: Any) -> Any:
    """Which vertices share a normal, by the number of the first of them."""
    _, first, inverse = np.unique(rest + 0.0, axis=0, return_index=True, return_inverse=True)
    together = first[inverse.ravel()]
    vectors, own = areas(rest, corners), np.zeros(rest.shape)
    total, size = np.zeros(rest.shape), np.zeros(len(rest))
    for corner in corners.T:
        np.add.at(own, corner, vectors)
        np.add.at(total, together[corner], vectors)
        np.add.at(size, together[corner], np.linalg.norm(vectors, axis=1))
    apart = (np.linalg.norm(total, axis=1) < 1e-3 * size)[together] & ((own * own[together]).sum(axis=1) < 0)
    return together + len(rest) * apart


def normals(points: Any, corners: Any, shared: Any) -> Any:
    total = np.zeros((2 * len(points), 3))
    for corner in corners.T:
        np.add.at(total, shared[corner], areas(points, corners))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    found = np.where(length > 0, total / np.where(length > 0, length, 1), (0.0, 0.0, 1.0))
    return found[shared]
