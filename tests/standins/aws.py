"""A local AWS in a process of its own: ministack on a free port of loopback."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_READY_S = 30.0
_STOP_S = 5.0


@contextmanager
def emulator(folder: Path) -> Iterator[dict[str, Any]]:
    """Run the emulator; what it says goes to a log in the folder.

    Yields:
        What ``boto3.client(service, **this)`` needs to talk to it, credentials that open nothing included.
    """
    port = free_port()
    log = folder / "ministack.log"
    settings = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "LOG_LEVEL": "WARNING"}
    environment = os.environ | settings | {"TMPDIR": str(folder)}  # functions' code is unpacked there
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "ministack"], env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(process, url, log)
        yield {
            "endpoint_url": url,
            "region_name": "us-east-1",
            "aws_access_key_id": "test",
            "aws_secret_access_key": "test",
        }
    finally:
        _stop(process)


def reset(url: str) -> None:
    """Forget every resource of the emulator."""
    request = urllib.request.Request(f"{url}/_ministack/reset", method="POST")  # noqa: S310  # loopback
    with urllib.request.urlopen(request, timeout=10):  # noqa: S310
        pass


def make_table(dynamodb: Any, name: str, *, keys: tuple[str, str] = ("pk", "sk")) -> None:
    """A table as the stack deploys it; it is there at once."""
    dynamodb.create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=True)],
        BillingMode="PAY_PER_REQUEST",
    )


def free_port() -> int:
    """A port of loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + _READY_S
    while True:
        try:
            with urllib.request.urlopen(f"{url}/_ministack/health", timeout=2):  # noqa: S310
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"ministack did not start:\n{log.read_text(errors='replace')[-2000:]}") from None
            time.sleep(0.05)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """A pending custom resource makes it deaf to SIGTERM."""
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
