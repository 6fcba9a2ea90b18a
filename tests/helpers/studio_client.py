"""The studio started as a user starts it, and a program that talks to it over its protocol."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from websockets.sync.client import ClientConnection, connect

from posespace.studio.frames import decode, encode

Arrays = dict[str, NDArray[Any]]

PATIENCE = 600
_MAIN = "from posespace.cli import main; raise SystemExit(main())"


class Process:
    """A running studio."""

    def __init__(self, *words: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, "studio", "--no-browser", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address, self.process.communicate()[1]

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    @property
    def socket(self) -> str:
        return f"ws://{self.host}/socket?token={self.token}"

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=PATIENCE)


@contextmanager
def studio(*words: str | Path) -> Iterator[Process]:
    """Yield a studio of these words of the command line; it ends with the block."""
    process = Process(*words)
    try:
        yield process
    finally:
        if process.process.poll() is None:
            process.kill()


class Client:
    """A program that talks to a studio: answers by request, events as they come."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.events: list[tuple[dict[str, Any], Arrays]] = []
        self._number = 0

    def request(self, what: str, arrays: Arrays | None = None, **data: Any) -> tuple[dict[str, Any], Arrays]:
        """Return the answer of a request; raise with its error."""
        self._number += 1
        self.connection.send(encode({"id": self._number, "do": what, **data}, arrays))
        while True:
            fields, received = self.receive()
            if fields.get("id") == self._number:
                if "error" in fields:
                    raise RefusedError(fields["error"])
                return fields["ok"], received

    def receive(self) -> tuple[dict[str, Any], Arrays]:
        """Return the next message; events are kept too."""
        message = decode(self.connection.recv(timeout=PATIENCE))
        fields: dict[str, Any] = dict(message.fields.values)
        if "event" in fields:
            self.events.append((fields, message.arrays))
        return fields, message.arrays

    def role(self) -> str:
        """Return the role that the studio said last."""
        self.request("project")
        return str(self.events[-1][0]["role"])


class RefusedError(Exception):
    """A request was refused, in one line."""


@contextmanager
def client(process: Process, **options: Any) -> Iterator[Client]:
    """Yield a program that is connected."""
    with connect(process.socket, max_size=2**27, open_timeout=PATIENCE, **options) as connection:
        yield Client(connection)


def pose_of(rest: NDArray[Any], joint: int, quaternion: tuple[float, ...]) -> dict[str, Any]:
    """Return the pose in which one joint has another rotation, as a page sends it; `rest` (J, 4)."""
    rotations = rest.copy()
    rotations[joint] = quaternion
    return {"joints": [*rotations.ravel().tolist(), *np.zeros(3 * len(rest)).tolist()], "controls": {}}
