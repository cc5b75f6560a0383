"""The server of a laptop: API, WebSocket and page over the embedded stores of one home."""

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from functions.api.app import create_app
from functions.frames import LONGEST_FRAME_BYTES
from functions.local import assets
from functions.local import socket as websocket
from functions.local.files import put_files
from functions.local.lock import HomeUnusable, Lock, held
from functions.local.loopback import LoopbackOnly, is_loopback
from functions.local.watcher import Watcher
from functions.services import Services
from graph.errors import FootnoteError, InvalidSetting, Unavailable
from graph.wiring import Wiring

logger = logging.getLogger(__name__)
GRACE_S = 20.0
"""How long running turns may go on after the signal to stop."""
_CLOSE_S = 5
_SWEEP_EVERY_S = 30.0


class AddressTaken(FootnoteError):
    """The port is in use."""


def serve(wiring: Wiring, *, host: str, port: int, docs: Sequence[Path]) -> None:
    """Serve until a signal says stop.

    Raises:
        InvalidSetting, HomeTaken, HomeUnusable, AddressTaken, FileNotFoundError: it could not start.
    """
    if not (is_loopback(host) or wiring.settings.has_identity):
        raise InvalidSetting(
            f"--host {host}: without identity settings everybody who reaches this server reads all documents, so it listens "
            "on this machine only; use --host 127.0.0.1, or set FOOTNOTE_AUTH_JWKS_URL, _ISSUER and _AUDIENCE"
        )
    for path in docs:
        if not path.exists():
            raise FileNotFoundError(f"--docs {path} does not exist")
    with held(wiring.settings.home, "serve") as lock, _listening(host, port) as listener:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_Server(wiring, listener, lock).run(docs))


class _Server:
    def __init__(self, wiring: Wiring, listener: socket.socket, lock: Lock) -> None:
        self._wiring = wiring
        self._listener = listener
        self._lock = lock
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()

    async def run(self, docs: Sequence[Path]) -> None:
        self._listen_to_signals()
        services = Services(self._wiring, kind="server")
        await self._open(services)
        server = _uvicorn(services)
        serving = asyncio.create_task(server.serve(sockets=[self._listener]))
        serving.add_done_callback(lambda _: self._stop.set())
        url = _url(self._listener)
        self._lock.say(url=url)
        print(f"Footnote answers at {url}", flush=True)
        async with Watcher(self._wiring):
            behind = [asyncio.create_task(job) for job in (self._warm(services), self._put(docs), self._sweep(services))]
            await self._stop.wait()
            await self._drain(services)
            for job in behind:
                job.cancel()
            await asyncio.gather(*behind, return_exceptions=True)
        server.should_exit = True
        await serving
        await self._wiring.close()

    def _listen_to_signals(self) -> None:
        def signalled() -> None:
            (self._hurry if self._stop.is_set() else self._stop).set()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, signalled)

    async def _open(self, services: Services) -> None:
        """Open the stores, and end what an earlier server left running, before anybody asks."""
        try:
            ended = await services.turns.sweeper.sweep(is_only_one=True)
        except Unavailable as error:
            raise HomeUnusable(str(error)) from error
        if ended:
            logger.warning("turns=%d of an earlier server ended as crashed", ended)

    async def _warm(self, services: Services) -> None:
        try:
            await services.warm()
        except Exception as error:  # noqa: BLE001  # the first turn will meet it again, and say so
            logger.warning("warming failed: %s", type(error).__name__)

    async def _put(self, docs: Sequence[Path]) -> None:
        if not docs:
            return
        try:
            count = len(await put_files(docs, self._wiring))
            logger.info("docs=%d put", count)
        except (FootnoteError, OSError) as error:
            logger.error("the documents could not be put: %s", error)  # noqa: TRY400  # the message says all

    async def _sweep(self, services: Services) -> None:
        while True:
            await asyncio.sleep(_SWEEP_EVERY_S)
            try:
                await services.turns.sweeper.sweep()
                await services.turns.forget_expired()
            except Exception as error:  # noqa: BLE001  # the next round may find the disk in order again
                logger.warning("sweeping failed: %s", type(error).__name__)

    async def _drain(self, services: Services) -> None:
        """Let running turns end; a second signal shortens the wait."""
        drain = asyncio.create_task(services.turns.drain(GRACE_S))
        hurry = asyncio.create_task(self._hurry.wait())
        await asyncio.wait({drain, hurry}, return_when=asyncio.FIRST_COMPLETED)
        if not drain.done():
            await services.turns.drain(0)
        hurry.cancel()
        await drain


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are ours: turns end first."""
        yield


def _uvicorn(services: Services) -> uvicorn.Server:
    app = create_app(services)
    assets.install(app)
    app.add_api_websocket_route("/ws", websocket.serve)
    app.add_api_websocket_route("/{path:path}", websocket.refuse)
    config = uvicorn.Config(
        app if services.settings.has_identity else LoopbackOnly(app),  # tokens are nothing that a browser sends by itself
        lifespan="off",
        log_config=None,
        access_log=False,
        ws_max_size=LONGEST_FRAME_BYTES,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_CLOSE_S,
        server_header=False,
    )
    return _Uvicorn(config)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise AddressTaken(f"port {port} of {host} {why}; choose another --port") from None
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
