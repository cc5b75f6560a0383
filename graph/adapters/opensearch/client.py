"""Requests to OpenSearch: signed, repeated where that helps, with errors of ours."""

import json
import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import NotFoundError, OpenSearchException, TransportError

from graph.errors import IndexUnavailable
from graph.ports import Json

T = TypeVar("T")
Signing = Literal["es", "aoss"]
"""Name of the service that requests are signed for: a managed domain, or a Serverless collection."""

_log = logging.getLogger(__name__)
_BATCH_BYTES = 4_000_000
_BATCH_ACTIONS = 500
_ATTEMPTS = 7
OVERLOADED = 429
_GONE = 404
_NO_DOCUMENT = (None, "document_missing_exception")


def connect(url: str, *, signing: Signing | None = None, timeout_s: float = 10) -> OpenSearch:
    """A client; its connections open at the first request. A name and password may stand in the URL instead of signing."""
    parts = urlsplit(url)
    password = (parts.username, parts.password or "") if parts.username else None
    return OpenSearch(
        hosts=[{"host": parts.hostname, "port": parts.port or (443 if parts.scheme == "https" else 80)}],
        url_prefix=parts.path.strip("/"),
        use_ssl=parts.scheme == "https",
        http_auth=_signer(signing) if signing else password,
        connection_class=Urllib3HttpConnection,  # the one for requests signs headers that Serverless refuses
        pool_maxsize=32,
        timeout=timeout_s,
        max_retries=2,
    )


def _signer(signing: Signing) -> Any:
    from boto3.session import Session  # noqa: PLC0415  # an index with a password needs no AWS

    session = Session()
    return Urllib3AWSV4SignerAuth(session.get_credentials(), session.region_name, signing)


def ask(request: Callable[..., T], /, *arguments: Any, **parameters: Any) -> T:
    """What OpenSearch answers.

    Raises:
        IndexUnavailable: it does not, or the index is not there.
    """
    for attempt in range(_ATTEMPTS):
        try:
            return request(*arguments, **parameters)
        except NotFoundError as error:
            raise IndexUnavailable(f"OpenSearch has no such index: {error.info}. Deploy, which makes it.") from error
        except NoConnection as error:
            raise IndexUnavailable(f"OpenSearch does not answer: {error.error}. Try again.") from error
        except TransportError as error:
            if error.status_code != OVERLOADED or attempt == _ATTEMPTS - 1:
                raise IndexUnavailable(f"OpenSearch refuses ({error.status_code}): {error.error}") from error
        except OpenSearchException as error:
            raise IndexUnavailable(f"OpenSearch does not answer: {error}") from error
        wait(attempt)
    raise AssertionError("unreachable")


def wait(attempt: int) -> None:
    """Sleep before the next attempt: 0.05 s, doubled with each, and not in step with others."""
    time.sleep(0.05 * 2**attempt * random.uniform(0.5, 1.5))  # noqa: S311  # no secret


def bulk(
    client: OpenSearch, index: str, actions: Sequence[tuple[Json, Json | None]], *, makes_index: bool = False
) -> list[str]:
    """Carry out the actions of a bulk request, in requests of a few MB; what is refused for overload is sent again.

    ``makes_index``: do not ask OpenSearch to refuse where the alias is missing, as Serverless cannot.

    Returns:
        The ids that were written to, in the order of success.

    Raises:
        IndexUnavailable: an action was refused for good; earlier ones stay done.
    """
    done: list[str] = []
    asked = {} if makes_index else {"require_alias": "true"}
    for batch in _batches(actions):
        left = batch
        for attempt in range(_ATTEMPTS):
            items = ask(client.bulk, body="".join(left), index=index, params=asked)["items"]
            results = [_result(item) for item in items]
            done += [result["_id"] for result in results if result["status"] != OVERLOADED]
            left = [lines for lines, result in zip(left, results, strict=True) if result["status"] == OVERLOADED]
            if not left:
                break
            _log.info("%d of %d actions were refused for overload", len(left), len(batch))
            wait(attempt)
        else:
            raise IndexUnavailable("OpenSearch is overloaded. Try again later, or give it more capacity.")
    return done


def _batches(actions: Sequence[tuple[Json, Json | None]]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for action, document in actions:
        lines = json.dumps(action) + "\n" + ("" if document is None else json.dumps(document) + "\n")
        if batch and (size + len(lines) > _BATCH_BYTES or len(batch) == _BATCH_ACTIONS):
            yield batch
            batch, size = [], 0
        batch.append(lines)
        size += len(lines)
    if batch:
        yield batch


def _result(item: Any) -> Any:
    """The result of one action. To change or delete a passage that is gone meanwhile leaves nothing to do."""
    ((operation, result),) = item.items()
    error = result.get("error", {})
    is_gone = operation in ("delete", "update") and result["status"] == _GONE and error.get("type") in _NO_DOCUMENT
    if result["status"] < 300 or result["status"] == OVERLOADED or is_gone:
        return result
    cause = error.get("caused_by", {}).get("reason", "")
    raise IndexUnavailable(f"OpenSearch refuses a passage ({error.get('type')}): {error.get('reason')} {cause}".strip())
