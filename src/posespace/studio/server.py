"""The server behind the page: it answers the page's requests one after the other, and tells all pages what changed."""

from __future__ import annotations

import asyncio
import socket
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from posespace.errors import FileError, InputError, one_line, quoted, suggestion
from posespace.skin.skin import Skin
from posespace.studio.frames import MOST_BYTES, Message, decode, encode
from posespace.studio.guard import HEADERS, HOST, Guard
from posespace.studio.project import Project
from posespace.studio.requests import REQUESTS
from posespace.studio.room import Room

PAGE = Path(__file__).with_name("studio.html")
"""The page, made when the library was installed."""

_PLACEHOLDER = "/*DATA*/"
_REFUSED = 4403
_MOST_LETTERS = 500
"""Of an error."""


class Page:
    """A connected page."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self._serving = asyncio.current_task()

    def drop(self) -> None:
        """End the connection at once."""
        if self._serving is not None:
            self._serving.cancel()

    async def send(self, frame: str | bytes) -> None:
        """Send a frame; a page that is gone swallows it."""
        with suppress(RuntimeError, WebSocketDisconnect):
            if self.socket.application_state is not WebSocketState.CONNECTED:
                return
            if isinstance(frame, str):
                await self.socket.send_text(frame)
            else:
                await self.socket.send_bytes(frame)


class Studio:
    """A project, its pages, and the application that serves them.

    Parameters
    ----------
    project : what is open
    guard : which requests are answered
    """

    def __init__(self, project: Project, guard: Guard) -> None:
        self.project = project
        self.guard = guard
        self.room = Room()
        # The revision of the skin that pages were told of last.
        self._told = project.revision
        # All work on the project is done by one thread, one piece after the other.
        self._worker = ThreadPoolExecutor(1, "studio")
        self.app = Starlette(
            routes=[Route("/", self._page), WebSocketRoute("/socket", self._socket)],
            exception_handlers={404: _not_found},
        )

    async def run(self, work: Callable[[], Any]) -> Any:
        """Do a piece of work on the project in its thread."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    async def _page(self, request: HttpRequest) -> Response:
        if refusal := self.guard.refusal(request.headers, request.query_params.get("token", ""), origin_needed=False):
            return PlainTextResponse(refusal, 403, HEADERS)
        return HTMLResponse(PAGE.read_text(encoding="utf-8"), headers=HEADERS)

    async def _socket(self, socket: WebSocket) -> None:
        if self.guard.refusal(socket.headers, self.guard.token, origin_needed=True):
            await socket.close(_REFUSED)
            return
        await socket.accept()
        if self.guard.refusal(socket.headers, socket.query_params.get("token", ""), origin_needed=True):
            # Accepted first, so that the page can tell: another studio listens here now.
            await socket.close(_REFUSED)
            return
        page = Page(socket)
        try:
            self.room.join(page)
        except InputError as error:
            await page.send(encode({"event": "refused", "error": str(error)}))
            await socket.close(_REFUSED)
            return
        try:
            await self._tell_project()
            await self._serve(page)
        finally:
            self.room.leave(page)
            await self._tell_project()

    async def _serve(self, page: Page) -> None:
        """Answer a page's requests until it leaves."""
        while True:
            try:
                received = await page.socket.receive()
            except RuntimeError:
                return
            if received["type"] != "websocket.receive":
                return
            frame = received.get("bytes") or received.get("text") or ""
            number: object = None
            try:
                message = decode(frame)
                number = message.fields.values.get("id")
                answer = await self._answer(page, message)
            except InputError as error:
                answer = encode({"id": _id(number), "error": _shortened(one_line(str(error)))})
            except Exception as error:
                # The page goes on; what went wrong is for whoever started the studio.
                traceback.print_exc()
                answer = encode({"id": _id(number), "error": _shortened(one_line(f"failed: {error!r}"))})
            await page.send(answer)

    async def _answer(self, page: Page, message: Message) -> str | bytes:
        fields = message.fields
        name = fields.text("do")
        if name not in REQUESTS:
            raise InputError(f"do: {quoted(name)} is no request{suggestion(name, tuple(REQUESTS))}")
        request, before = REQUESTS[name], self.project.revision
        if request.changes:
            self.room.require_editor(page, name)
        try:
            answer, arrays = await self.run(lambda: request.answer(self.project, fields, message.arrays))
        except OSError as error:
            raise FileError(self.project.path, f"cannot be used ({error.strerror or error})") from error
        finally:
            if request.changes or self.project.revision != before:
                await self._tell_project()
        return encode({"id": _id(fields.values.get("id")), "ok": answer}, arrays)

    async def _tell_project(self) -> None:
        """Tell all pages what the project is now, and whether it has another skin."""
        if not len(self.room):
            return
        described = await self.run(self.project.describe)
        await self.room.tell("project", described)
        if described["revision"] != self._told:
            self._told = described["revision"]
            await self.room.tell("skin", {"revision": self._told})

    async def begin(self) -> None:
        """Solve what is there, so that the page opens at once and the skin follows; listen to fits."""
        loop = asyncio.get_running_loop()

        def tell(event: str, says: Mapping[str, Any]) -> None:
            asyncio.run_coroutine_threadsafe(self.room.tell(event, says), loop)

        def fitted(skin: Skin) -> None:
            self._worker.submit(self.project.show, skin).result()
            asyncio.run_coroutine_threadsafe(self._tell_project(), loop)

        self.project.fits.tell, self.project.fits.fitted = tell, fitted
        try:
            await self.run(self.project.begin)
        except InputError as error:
            self.project.notes = [one_line(str(error))]
        await self._tell_project()

    def close(self) -> None:
        """End the work, and a fit that is running."""
        self.project.fits.cancel()
        self._worker.shutdown(wait=True, cancel_futures=True)


def _shortened(line: str) -> str:
    return line if len(line) <= _MOST_LETTERS else f"{line[:_MOST_LETTERS]}…"


def _id(value: object) -> int | None:
    return value if isinstance(value, int) and abs(value) < 2**53 else None


async def _not_found(request: HttpRequest, error: Exception) -> Response:  # noqa: ARG001 - Starlette's handler
    return PlainTextResponse("not found", 404, HEADERS)


def bound_socket(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone; port 0: any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise InputError(f"port {port}: cannot be used ({(error.strerror or '').lower()}); choose another") from error
    return listener


def _config(app: Starlette) -> uvicorn.Config:
    """Return a configuration that prints nothing and takes no message beyond what frames allow."""
    return uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=MOST_BYTES,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
    )


async def serve(project: Project, listener: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve a project until the process is asked to end; `ready` is called with the page's address."""
    if not PAGE.is_file():
        remedy = "install Node 20 or newer with npm, then install posespace again"
        raise FileError(PAGE, f"the page was not built when posespace was installed; {remedy}")
    studio = Studio(project, Guard(listener.getsockname()[1]))
    server = uvicorn.Server(_config(studio.app))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    ready(studio.guard.address)
    beginning = asyncio.create_task(studio.begin())
    await serving
    await beginning
    studio.close()
