"""The OpenAPI document and the page that shows it; ``python -m functions.api.openapi`` prints what is committed."""

import json
import sys
from html import escape
from typing import Any

from fastapi import Depends, FastAPI, Response
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from functions.api import responses
from functions.api.negotiation import JSON, accepts
from functions.shapes import Problem

_TEMPLATE = "#/components/schemas/{model}"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "code{font-size:.9em}summary{cursor:pointer}pre{overflow:auto}section{border-top:1px solid;padding:.5rem 0}"
)


def install(app: FastAPI) -> None:
    """Serve ``/openapi.json``, and ``/docs``, which needs no script and no other host."""

    async def document() -> Response:
        """This document."""
        return responses.json(schema(app))

    async def docs() -> Response:
        """This document, to read."""
        policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return Response(_page(schema(app)), media_type="text/html", headers={"Content-Security-Policy": policy})

    app.add_api_route("/openapi.json", document, include_in_schema=False, dependencies=[Depends(accepts(JSON))])
    app.add_api_route("/docs", docs, include_in_schema=False, dependencies=[Depends(accepts("text/html"))])


def schema(app: FastAPI) -> dict[str, Any]:
    """OpenAPI 3.1 of the routes."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, routes=app.routes, description=_DESCRIPTION)
        schemas = made["components"]["schemas"]
        problem = TypeAdapter(Problem).json_schema(ref_template=_TEMPLATE)
        schemas.update(problem.pop("$defs", {}))
        schemas["Problem"] = problem
        _drop_validation_errors(made)
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
        made["security"] = [{"token": []}, {}]  # a laptop's one user has none
        made["components"]["schemas"] = dict(sorted(schemas.items()))
        app.openapi_schema = made
    return app.openapi_schema


def _drop_validation_errors(document: dict[str, Any]) -> None:
    """The framework's own, in place of which we send problems; it adds them where nothing can be invalid, too."""
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)
    for operations in document["paths"].values():
        for operation in operations.values():
            if "HTTPValidationError" in json.dumps(operation["responses"].get("422", {})):
                del operation["responses"]["422"]


_DESCRIPTION = (
    "Answers from your own documents, with footnotes that point at the exact words. "
    "Errors are RFC 9457 problems; `code` says which. The same turns can be had over the WebSocket `/ws`."
)


def _page(document: dict[str, Any]) -> str:
    operations = [
        _operation(method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    shapes = "".join(
        f"<details id='{escape(name)}'><summary><code>{escape(name)}</code></summary>{_pre(shape)}</details>"
        for name, shape in document["components"]["schemas"].items()
    )
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1><p>{escape(document['info']['description'])} "
        f"<a href='openapi.json'>OpenAPI {escape(document['openapi'])}</a></p>{''.join(operations)}<h2>Shapes</h2>{shapes}"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    answers = "".join(
        f"<li><b>{escape(status)}</b> {escape(answer.get('description', ''))}</li>"
        for status, answer in operation["responses"].items()
    )
    needs = {name: operation[name] for name in ("parameters", "requestBody") if name in operation}
    details = f"<details><summary>What to send</summary>{_pre(needs)}</details>" if needs else ""
    return (
        f"<section><h3><code>{method} {escape(path)}</code></h3><p>{escape(operation.get('description', ''))}</p>"
        f"{details}<ul>{answers}</ul></section>"
    )


def _pre(value: object) -> str:
    return f"<pre>{escape(json.dumps(value, indent=1, ensure_ascii=False))}</pre>"


def main() -> None:
    """Print the document."""
    from functions.api.app import create_app  # noqa: PLC0415  # it imports this module

    json.dump(schema(create_app(None)), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
