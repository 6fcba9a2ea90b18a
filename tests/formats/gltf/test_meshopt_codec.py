"""The decoder of meshopt's buffers: meshoptimizer's own bytes come back, hostile ones end in an error and no crash."""

from __future__ import annotations

from typing import Any

import meshopt
import numpy as np
import pytest
from helpers.strategies import seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from posespace.errors import InputError
from posespace.formats.gltf import meshopt_codec
from posespace.formats.gltf.meshopt_filters import unfiltered

STEPS = {"bytes": np.uint8, "shorts": np.int16, "words": np.int32, "floats": np.float32}


def table(rng: np.random.Generator, kind: str, count: int, stride: int) -> Any:
    """Rows of bytes whose numbers of a kind wander, or jump now and then."""
    width = stride // np.dtype(STEPS[kind]).itemsize
    values = np.cumsum(rng.normal(scale=rng.choice([0.1, 3, 300]), size=(count, width)), axis=0)
    values[rng.random(count) < 0.1] *= -5
    return values.astype(np.float32 if kind == "floats" else np.int64).astype(STEPS[kind]).view(np.uint8)


def encoded(content: bytes) -> Any:
    return np.frombuffer(content, np.uint8)


@settings(max_examples=60)
@given(
    seed=seeds,
    kind=st.sampled_from(sorted(STEPS)),
    count=st.integers(1, 700),
    stride=st.integers(1, 64).map(lambda k: 4 * k),
    level=st.integers(0, 3),
    version=st.integers(0, 1),
)
def test_rows_come_back(seed: int, kind: str, count: int, stride: int, level: int, version: int) -> None:
    rows = table(np.random.default_rng(seed), kind, count, stride)
    content = encoded(meshopt.encode_vertex_buffer_level(rows, level, version))
    np.testing.assert_array_equal(meshopt_codec.vertex_rows(content, count, stride), rows)


def grid(side: int) -> Any:
    """The corners of a grid of squares, as meshes have them: neighbours share edges."""
    at = np.arange(side * side).reshape(side, side)
    a, b, c, d = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]
    return np.stack([a, b, c, a, c, d], axis=-1).astype(np.uint32).ravel()


@settings(max_examples=40)
@given(seed=seeds, triangles=st.integers(1, 400), vertices=st.sampled_from([1, 3, 40, 100_000, 2**32 - 1]))
def test_corners_and_sequences_come_back(seed: int, triangles: int, vertices: int) -> None:
    rng = np.random.default_rng(seed)
    for corners in (grid(2 + triangles % 20), rng.integers(0, vertices, 3 * triangles).astype(np.uint32)):
        content = meshopt.encode_index_buffer(corners)
        wanted = meshopt.decode_index_buffer(content, len(corners), 4)  # it turns triangles, and keeps their order
        np.testing.assert_array_equal(meshopt_codec.triangle_corners(encoded(content), len(corners)), wanted)
        content = meshopt.encode_index_sequence(corners)
        wanted = meshopt.decode_index_sequence(content, len(corners), 4)  # it keeps 30 bits of a step
        np.testing.assert_array_equal(meshopt_codec.index_sequence(encoded(content), len(corners)), wanted)


def stored(name: str, stride: int, rng: np.random.Generator) -> Any:
    values = rng.normal(size=(300, 4)).astype(np.float32)
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    if name == "OCTAHEDRAL":
        return meshopt.encode_filter_oct(unit, stride, 8 * stride // 4)
    if name == "QUATERNION":
        return meshopt.encode_filter_quat(unit, stride, 12)
    if name == "EXPONENTIAL":
        return meshopt.encode_filter_exp(values[:, : stride // 4], 15)
    return meshopt.encode_filter_color(np.abs(unit), stride, 8 * stride // 4)


@pytest.mark.parametrize(
    ("name", "stride", "kind", "near"),
    [
        ("OCTAHEDRAL", 4, "<i1", 1),
        ("OCTAHEDRAL", 8, "<i2", 1),
        ("QUATERNION", 8, "<i2", 1),
        ("EXPONENTIAL", 12, "<f4", 0),
        ("COLOR", 4, "<u1", 1),
        ("COLOR", 8, "<u2", 1),
    ],
)
def test_filters_are_undone_as_meshoptimizer_does(name: str, stride: int, kind: str, near: int) -> None:
    rows = np.ascontiguousarray(stored(name, stride, np.random.default_rng(0))).view(np.uint8).reshape(300, stride)
    content = meshopt.encode_gltf_buffer(rows, "ATTRIBUTES")
    wanted = meshopt.decode_gltf_buffer(content, 300, stride, "ATTRIBUTES", name).view(kind).astype(float)
    found = unfiltered(meshopt_codec.vertex_rows(encoded(content), 300, stride), name).view(kind)
    # It rounds halves by the processor's mode in one build and away from zero in another.
    assert np.abs(found - wanted).max() <= near
    assert np.abs(wanted).max() > 1


@pytest.mark.parametrize(("name", "stride"), [("OCTAHEDRAL", 12), ("QUATERNION", 4), ("COLOR", 16), ("BOOM", 4)])
def test_a_filter_of_other_rows_is_refused(name: str, stride: int) -> None:
    with pytest.raises(InputError, match="filter"):
        unfiltered(np.zeros((3, stride), np.uint8), name)


@pytest.mark.parametrize("name", ["OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"])
def test_filters_take_any_bytes(name: str) -> None:
    rows = np.random.default_rng(0).integers(0, 256, (5000, 8)).astype(np.uint8)
    assert unfiltered(np.concatenate([rows, np.zeros_like(rows)]), name).shape == (10_000, 8)


DECODERS = {
    0xA0: lambda content, count: meshopt_codec.vertex_rows(content, count, 12),
    0xE0: meshopt_codec.triangle_corners,
    0xD0: meshopt_codec.index_sequence,
}


@pytest.mark.parametrize("kind", DECODERS)
def test_hostile_bytes_end_in_an_error_and_no_crash(kind: int) -> None:
    rng, corners = np.random.default_rng(kind), grid(17)
    honest = {
        0xA0: meshopt.encode_vertex_buffer_level(table(rng, "shorts", 500, 12), 2, 1),
        0xE0: meshopt.encode_index_buffer(corners),
        0xD0: meshopt.encode_index_sequence(corners),
    }[kind]
    refused = 0
    for _ in range(3000):
        content = encoded(honest).copy() if rng.random() < 0.5 else rng.integers(0, 256, rng.integers(0, 3000))
        content = content.astype(np.uint8)
        places = rng.integers(0, max(1, len(content)), 5)
        content[places[places < len(content)]] = rng.choice(
            [0, 127, 128, 254, 255], np.count_nonzero(places < len(content))
        )
        content = content[: rng.integers(0, len(content) + 1)] if rng.random() < 0.3 else content
        content[:1] = kind + rng.integers(0, 2)
        try:
            DECODERS[kind](content, int(rng.choice([3, len(corners), 3 * 1000])))
        except (InputError, IndexError) as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 1000
