"""A bucket that is a folder: the laptop's S3.

Metadata of ``a/b.md`` is the JSON object in ``a/.b.md.meta.json`` beside it; names that start with a dot are no objects.
"""

import asyncio
import hashlib
import json
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import TypeVar

from graph.content_types import type_of
from graph.errors import BadName, Unavailable
from graph.metadata import as_json, as_text
from graph.ports import ObjectInfo

T = TypeVar("T")
_CONTENT_TYPE = "content-type"
"""In the sidecar: a content type that is not the one of the extension."""
_SIDECAR = ".meta.json"
_LONGEST_NAME_BYTES = 255


class FolderBucket:
    """Objects as files under a root. Writes are atomic, also for readers in other processes."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    async def put(
        self, key: str, body: bytes, *, metadata: Mapping[str, str] | None = None, content_type: str | None = None
    ) -> ObjectInfo:
        return await self._run(lambda: self._put(key, body, dict(metadata or {}), content_type))

    async def get(self, key: str) -> bytes | None:
        return await self._run(lambda: _read(self.path(key)))

    async def head(self, key: str) -> ObjectInfo | None:
        return await self._run(lambda: self._head(key))

    async def delete(self, key: str) -> None:
        await self._run(lambda: _delete(self.path(key)))

    async def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        for info in await self._run(lambda: self._sorted(prefix)):
            yield info

    def uri(self, key: str) -> str:
        return self.path(key).as_uri()

    def path(self, key: str) -> Path:
        """The file of an object.

        Raises:
            BadName: no file may have this name, or it would lie outside the root.
        """
        parts = key.split("/")
        if any(part in ("", ".", "..") or "\0" in part or len(os.fsencode(part)) > _LONGEST_NAME_BYTES for part in parts):
            raise BadName(f"{key!r} is not a key: it must be relative, without empty, dotted or endless parts")
        path = self.root / key
        if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(self.root)):
            raise BadName(f"{key!r} leads out of the bucket through a link")
        return path

    def key(self, path: Path) -> str:
        """The key of the object that a file, or the sidecar of one, belongs to."""
        name = path.name
        if name.startswith(".") and name.endswith(_SIDECAR):
            path = path.with_name(name[1 : -len(_SIDECAR)])
        return path.relative_to(self.root).as_posix()

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except OSError as error:  # a full or read-only disk, a file that this user may not read
            raise Unavailable(f"the bucket {self.root} cannot be used ({error}); see to its disk and its rights") from error

    def _put(self, key: str, body: bytes, metadata: dict[str, str], content_type: str | None) -> ObjectInfo:
        path = self.path(key)
        clash = path.is_dir()
        with suppress(FileExistsError, NotADirectoryError):
            path.parent.mkdir(parents=True, exist_ok=True)
        if clash or not path.parent.is_dir():
            raise BadName(f"{key!r} cannot be stored: a part of it would be a file and a folder at once")
        if content_type and content_type != type_of(key):
            metadata[_CONTENT_TYPE] = content_type
        sidecar = _sidecar(path)
        if metadata:  # before the file: new text must never be read under the old groups
            _write(sidecar, json.dumps(as_json(metadata), ensure_ascii=False, indent=1).encode())
        _write(path, body)
        if not metadata:
            sidecar.unlink(missing_ok=True)
        info = self._head(key)
        if info is None:
            raise BadName(f"{key!r} was removed while it was written")
        return info

    def _head(self, key: str) -> ObjectInfo | None:
        path = self.path(key)
        try:
            stat = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not S_ISREG(stat.st_mode):
            return None
        metadata, changed_ns = _metadata(_sidecar(path))
        content_type = metadata.pop(_CONTENT_TYPE, "")
        identity = (
            f"{stat.st_size}/{stat.st_mtime_ns}/{stat.st_ctime_ns}/{stat.st_ino}/{content_type}/{sorted(metadata.items())}"
        )
        return ObjectInfo(
            key=key,
            version=hashlib.sha256(identity.encode(errors="surrogateescape")).hexdigest(),
            bytes=stat.st_size,
            content_type=content_type or type_of(key),
            metadata=metadata,
            modified_at=max(stat.st_ctime_ns, changed_ns) / 1e9,
            sequencer=f"{max(_written_ns(stat), changed_ns):020X}",
        )

    def _sorted(self, prefix: str) -> Sequence[ObjectInfo]:
        return sorted(self._walk(prefix), key=lambda info: info.key)

    def _walk(self, prefix: str) -> Iterator[ObjectInfo]:
        folder = prefix.rpartition("/")[0]
        top = self.path(folder) if folder else self.root
        for where, folders, names in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                key = (Path(where) / name).relative_to(self.root).as_posix()
                if not name.startswith(".") and key.startswith(prefix) and (info := self._head(key)):
                    yield info


def _sidecar(path: Path) -> Path:
    name = f".{path.name}{_SIDECAR}"
    if len(os.fsencode(name)) > _LONGEST_NAME_BYTES:
        name = f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()}{_SIDECAR}"
    return path.with_name(name)


def _metadata(sidecar: Path) -> tuple[dict[str, str], int]:
    """Metadata, and when the sidecar was written (ns); what is no JSON object counts as none."""
    try:
        changed_ns = sidecar.stat().st_mtime_ns
        stored = json.loads(sidecar.read_bytes())
    except FileNotFoundError:
        return {}, 0
    except ValueError:
        return {}, changed_ns
    return (as_text(stored), changed_ns) if isinstance(stored, dict) else ({}, changed_ns)


def _written_ns(stat: os.stat_result) -> int:
    """When the file was written: ``mtime`` is finer than ``ctime`` but may be anything in a copied file."""
    fine = stat.st_mtime_ns - stat.st_ctime_ns < 1_000_000_000
    return max(stat.st_ctime_ns, stat.st_mtime_ns) if fine else stat.st_ctime_ns


def _read(path: Path) -> bytes | None:
    try:
        return None if path.is_symlink() else path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _write(path: Path, body: bytes) -> None:
    """Replace the file in one step, with a time of change that is later than the old one's."""
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        now_ns = time.time_ns()
        with suppress(FileNotFoundError):
            now_ns = max(now_ns, path.stat().st_mtime_ns + 1)
        os.utime(unfinished, ns=(now_ns, now_ns))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _delete(path: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
    _sidecar(path).unlink(missing_ok=True)
