"""What every test on the GPU may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import absent

from posespace.errors import InputError
from posespace.runtime.gpu import webgpu


@pytest.fixture(scope="module")
def device() -> Iterator[Any]:
    """One device for all players of a file."""
    try:
        made = webgpu.opened()
    except InputError as error:
        absent("vulkan", str(error))
    yield made
    made.destroy()
