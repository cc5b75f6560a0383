"""An issuer of tokens: its keys, and a server that shows the public ones."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

ISSUER, AUDIENCE = "https://issuer.example", "footnote"
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@cache
def rsa_key(_kid: str) -> rsa.RSAPrivateKey:
    """The RSA key of this name."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def ec_key(_kid: str) -> ec.EllipticCurvePrivateKey:
    """The elliptic key of this name."""
    return ec.generate_private_key(ec.SECP256R1())


def public(kid: str, key: PrivateKey) -> dict[str, Any]:
    """A private key's entry among the public ones."""
    if isinstance(key, rsa.RSAPrivateKey):
        described: dict[str, Any] = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    else:
        described = json.loads(ECAlgorithm.to_jwk(key.public_key()))
    return described | {"kid": kid, "use": "sig"}


def token(
    key: PrivateKey | None = None,
    *,
    kid: str | None = "a",
    algorithm: str = "RS256",
    tenant: str | None = "acme",
    groups: list[str] | None = None,
    **claims: Any,
) -> str:
    """A token; a claim of None is left out."""
    names = {"sub": "ada", "custom:tenant": tenant, "cognito:groups": groups}
    usual = names | {"iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 86_400}
    payload = {name: value for name, value in (usual | claims).items() if value is not None}
    header = {"kid": kid} if kid else {}
    return jwt.encode(payload, key or rsa_key("a"), algorithm, headers=header)


@dataclass
class Issuer:
    """A server of public keys."""

    url: str = ""
    keys: list[dict[str, Any]] = field(default_factory=lambda: [public("a", rsa_key("a")), public("e", ec_key("e"))])
    asked: int = 0

    @property
    def environment(self) -> dict[str, str]:
        """Settings that name it."""
        return {
            "FOOTNOTE_AUTH_ISSUER": ISSUER,
            "FOOTNOTE_AUTH_AUDIENCE": AUDIENCE,
            "FOOTNOTE_AUTH_JWKS_URL": self.url,
        }


@contextmanager
def issuing() -> Iterator[Issuer]:
    """Serve keys on a free port of loopback."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.asked += 1
            body = json.dumps({"keys": issuer.keys}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    issuer.url = f"http://127.0.0.1:{server.server_port}/.well-known/jwks.json"
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
