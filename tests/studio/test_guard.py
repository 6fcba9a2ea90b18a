"""A local server trusts nobody: what does not come from its own page, with its token, is refused."""

from __future__ import annotations

import http.client
import json
from pathlib import Path

import pytest
from helpers.studio_client import PATIENCE, Client, Process, RefusedError, client, studio
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


def get(process: Process, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(process.host)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()


def test_only_its_own_page_with_its_token_is_served(store: Path) -> None:
    with studio(store) as process:
        assert process.address.startswith("http://127.0.0.1:")
        good = f"/?token={process.token}"
        status, headers, page = get(process, good)
        assert status == 200
        assert "posespace studio" in page
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
        assert get(process, "/")[0] == get(process, "/?token=wrong")[0] == get(process, "/?token=%ff")[0] == 403
        # A name that points to this machine is not this machine.
        assert get(process, good, Host="evil.example:80")[0] == 403
        assert get(process, good, Host=f"evil.example:{process.host.partition(':')[2]}")[0] == 403
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/static/x", "//etc/passwd", f"/x{good}"):
            assert get(process, path)[0] == 404


@pytest.mark.parametrize(
    "wrong", [{"origin": "http://evil.example"}, {"origin": "null"}, {"additional_headers": {"Host": "evil.example"}}]
)
def test_a_socket_from_elsewhere_is_refused(store: Path, wrong: dict[str, object]) -> None:
    with studio(store) as process:
        with pytest.raises((InvalidStatus, ConnectionClosed)), client(process, **wrong) as program:
            program.request("project")
        with (
            pytest.raises((InvalidStatus, ConnectionClosed)),
            connect(process.socket.replace(process.token, "wrong")) as connection,
        ):
            Client(connection).request("project")
        with client(process, origin=f"http://{process.host}") as program:
            assert program.request("project")[0]["name"] == "arm"


MALFORMED: tuple[str | bytes, ...] = (
    "",
    "no json",
    "[]",
    "{}",
    '{"id": 1, "do": 5}',
    '{"id": 1, "do": "eval"}',
    '{"id": 1, "do": "define", "name": "x", "pose": {"joints": [NaN]}}',
    '{"id": 1, "do": "surface"}',
    '{"id": 1, "do": "surface", "pose": {"joints": [1, 2, 3]}}',
    '{"id": 1, "do": "pose_of", "name": "../../etc/passwd"}',
    '{"id": 1, "do": "radius", "name": "bent", "radius": -1}',
    "[" * 100_000,
    b"",
    b"\x00",
    b"\xff\xff\xff\xff{}",
    b"\x02\x00\x00\x00{}",
    (60).to_bytes(4, "little") + b'{"id":1,"do":"define","arrays":[{"name":"points","dtype":"f4",',
)


def test_malformed_messages_are_refused_and_the_studio_goes_on(store: Path) -> None:
    with studio(store) as process, client(process) as program:
        for message in MALFORMED:
            program.connection.send(message)
            answer = program.receive()[0]
            while "event" in answer:
                answer = program.receive()[0]
            assert "\n" not in answer["error"]
            assert "Traceback" not in answer["error"]
        for header in (
            {"arrays": [{"name": "points", "dtype": "f8", "shape": [1]}]},
            {"arrays": [{"name": "points", "dtype": "f4", "shape": [2**40, 2**40]}]},
            {"arrays": [{"name": "points", "dtype": "f4", "shape": [-1]}]},
            {"arrays": [{"name": "points", "dtype": "f4", "shape": [0]}] * 9},
            {"arrays": 3},
        ):
            text = json.dumps({"id": 1, "do": "define", **header}).encode()
            program.connection.send(len(text).to_bytes(4, "little") + text)
            answer = program.receive()[0]
            assert "error" in answer
        assert program.request("project")[0]["name"] == "arm"


def test_a_message_that_is_too_large_ends_its_connection_alone(store: Path) -> None:
    with studio(store) as process:
        with client(process) as program:
            program.request("project")
            program.connection.send(bytes(2**26 + 1))
            with pytest.raises(ConnectionClosed):
                program.connection.recv(timeout=PATIENCE)
        with client(process) as program:
            assert program.request("project")[0]["name"] == "arm"


def test_nothing_outside_of_the_project_is_named_by_a_request(store: Path) -> None:
    with studio(store) as process, client(process) as program:
        before = sorted(path.name for path in store.parent.iterdir())
        with pytest.raises(RefusedError):
            program.request("rename", name="bent", to="")
        program.request("rename", name="bent", to="../../outside")
        assert sorted(path.name for path in store.parent.iterdir()) == before
