"""A server as users run it: ``footnote serve`` in a process of its own, on a free port."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_STARTS_S = 60
_STOPS_S = 60
FOOTNOTE = ("-m", "functions.local.cli")
SCRIPTED = ("-m", "tests.scripted")
"""A server whose agent plays what the question says (see ``tests/scripted.py``)."""


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of this process without its settings and keys, and ``env``."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("FOOTNOTE_", "GROQ_"))}
    return {**bare, **(env or {})}


@dataclass
class RunningServer:
    """A server that answers at ``url``."""

    url: str
    process: subprocess.Popen[str]
    log: list[str] = field(default_factory=list)
    """Lines of its stderr so far."""

    @property
    def socket_url(self) -> str:
        """The address of its WebSocket."""
        return f"ws{self.url.removeprefix('http')}/ws"

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(_STOPS_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            if self.process.stdout is not None:
                self.process.stdout.close()


def start_server(
    home: Path, *args: str, env: Mapping[str, str] | None = None, program: Sequence[str] = FOOTNOTE
) -> RunningServer:
    """Start ``footnote serve`` over a home, on a free port unless ``args`` say which. The caller stops it."""
    command = [sys.executable, *program, "serve", "--home", str(home), *(() if "--port" in args else ("--port", "0")), *args]
    process = subprocess.Popen(  # noqa: S603  # our own command
        command, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    log: list[str] = []

    def read() -> None:
        with process.stderr or open(os.devnull) as lines:  # noqa: PTH123
            for line in lines:
                log.append(line.rstrip("\n"))  # noqa: PERF401  # it is read while it grows

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    timer = threading.Timer(_STARTS_S, process.kill)
    timer.start()
    line = process.stdout.readline() if process.stdout else ""
    timer.cancel()
    if "http" not in line:
        code = process.wait()
        reader.join(5)
        raise RuntimeError(f"the server ended with {code}:\n" + "\n".join(log))
    return RunningServer(url=line.split()[-1], process=process, log=log)


@contextmanager
def serving(
    home: Path,
    *args: str,
    docs: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = FOOTNOTE,
) -> Iterator[str]:
    """The address of a server over a home, which is stopped afterwards."""
    named = [part for path in docs for part in ("--docs", str(path))]
    server = start_server(home, *named, *args, env=env, program=program)
    try:
        yield server.url
    finally:
        server.stop()
