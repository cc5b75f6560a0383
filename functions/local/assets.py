"""The page, from the package: no other host is ever asked for anything."""

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse

from graph.errors import NotFound

_FOLDER = Path(__file__).parent / "page"
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".woff2": "font/woff2",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def install(app: FastAPI) -> None:
    """Serve the page at ``/``, what it loads below ``/static``."""

    async def index(request: Request) -> FileResponse:
        return _file("index.html", request)

    async def static(path: str, request: Request) -> FileResponse:
        return _file(path, request)

    app.add_api_route("/", index, include_in_schema=False)
    app.add_api_route("/static/{path:path}", static, include_in_schema=False)


def _file(name: str, request: Request) -> FileResponse:
    file = (_FOLDER / name).resolve() if "\0" not in name else _FOLDER
    if not file.is_relative_to(_FOLDER.resolve()) or file.suffix not in _TYPES or not file.is_file():
        raise NotFound(f"there is nothing at {request.url.path}")
    headers = {
        # The host is a loopback address, or the request would not have come this far.
        "Content-Security-Policy": _POLICY.format(host=request.url.netloc),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-cache",  # asks each time, and is told that nothing changed
    }
    return FileResponse(file, media_type=_TYPES[file.suffix], headers=headers)
