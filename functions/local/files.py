"""Files of this machine into the bucket: what `footnote ingest` and ``serve --docs`` do."""

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from graph.adapters.folder import FolderBucket
from graph.documents import DocumentRecord, Documents, document_id
from graph.errors import BadName
from graph.keys import is_hidden, key_of
from graph.ports import Bucket, ObjectInfo
from graph.wiring import Wiring

_POLL_S = 0.2


def collect(paths: Sequence[Path]) -> dict[str, Path]:
    """Document paths and their files: a folder ``en`` becomes ``en/…``, a single file its name; dotfiles are left out.

    Raises:
        FileNotFoundError: one of the paths does not exist.
        BadName: two files would become the same document.
    """
    found: dict[str, Path] = {}
    for path in paths:
        for name, file in _files(path):
            if found.setdefault(name, file).absolute() != file.absolute():
                raise BadName(f"{found[name]} and {file} would both become {name!r}; put one of them in a folder of its own")
    return found


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    top = Path(os.path.abspath(path))  # noqa: PTH100  # "." and ".." need a name, links keep theirs
    if not top.is_dir():
        yield top.name, path
        return
    for folder, _, names in os.walk(top):
        for name in names:
            file = Path(folder) / name
            below = file.relative_to(top.parent if top.name else top)
            if not is_hidden(file.relative_to(top).as_posix()) and file.is_file():
                yield below.as_posix(), file


async def put_files(
    paths: Sequence[Path], wiring: Wiring, *, tenant: str = "default", metadata: Mapping[str, str] | None = None
) -> list[str]:
    """Put files in the bucket, small ones first, and say so in the registry; the ids of their documents.

    What the bucket already holds stays as it is. A sidecar beside a file is its metadata, below what is given here.
    """
    files = await asyncio.to_thread(collect, paths)
    documents = Documents(wiring.table)
    for path, file in sorted(files.items(), key=lambda item: item[1].stat().st_size):
        info = await _put(file, key_of(tenant, path), wiring.bucket, metadata or {})
        with suppress(BadName):  # ingestion says so of the file
            await documents.pending(tenant, path, info, uri=wiring.bucket.uri(info.key))
    return [document_id(tenant, path) for path in files]


async def _put(file: Path, key: str, bucket: Bucket, metadata: Mapping[str, str]) -> ObjectInfo:
    body = await asyncio.to_thread(file.read_bytes)
    beside = await FolderBucket(file.parent).head(file.name)
    wanted = {**(beside.metadata if beside else {}), **metadata}
    info = await bucket.head(key)
    if info is not None and dict(info.metadata) == wanted and await bucket.get(key) == body:
        return info
    return await bucket.put(key, body, metadata=wanted)


async def outcomes(wiring: Wiring, ids: Collection[str], *, tenant: str = "default") -> AsyncIterator[DocumentRecord]:
    """Each document's record as often as it changes, until all of them are ``ready``, ``failed`` or gone."""
    documents, seen, open_ids = Documents(wiring.table), dict[str, str](), list(ids)
    while open_ids:
        for name in list(open_ids):
            record = await documents.find(tenant, name)
            if record is not None and seen.get(name) != record["revision"]:
                seen[name] = record["revision"]
                yield record
            if record is not None and (record.get("deleted") or record["status"] in ("ready", "failed")):
                open_ids.remove(name)
        if open_ids:
            await asyncio.sleep(_POLL_S)
