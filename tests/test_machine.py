"""What the machine gives: a Vulkan driver that computes, where one is promised."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import absent

DOUBLE = """
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> made: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&given)) { made[id.x] = 2.0 * given[id.x]; }
}
"""


@pytest.mark.slow
def test_the_vulkan_driver_computes() -> None:
    import wgpu
    from wgpu.utils.compute import compute_with_buffers

    try:
        wgpu.gpu.request_adapter_sync()
    except RuntimeError as error:
        absent("vulkan", f"no GPU driver answers ({error})")
    given = np.arange(100, dtype=np.float32)
    made = compute_with_buffers({0: given}, {1: (100, "f")}, DOUBLE, n=2)
    np.testing.assert_array_equal(np.frombuffer(made[1], np.float32), 2 * given)
