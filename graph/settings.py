"""Every setting, in one frozen model, read once from the environment."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from graph.errors import InvalidSetting
from graph.thresholds import CONFIDENT_FROM

PREFIX = "FOOTNOTE_"


class Settings(BaseSettings):
    """What an operator may set. Each field is the variable ``FOOTNOTE_<NAME>`` unless it names another."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, env_ignore_empty=True, populate_by_name=True)

    home: Path = Path(".footnote")
    """Folder of the embedded stores (laptop only)."""
    cache: Path = Path("~/.cache/footnote")
    """Folder for what can be made again, such as the embedder's graph."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Least severe level that is logged."""
    token: SecretStr | None = None
    """Bearer token that `footnote ask --url` sends."""

    auth_issuer: str | None = None
    """Issuer whose tokens are believed (`iss`)."""
    auth_audience: str | None = None
    """Whom tokens are meant for (`aud`, or `client_id` in a token without it)."""
    auth_jwks_url: str | None = Field(default=None, validate_default=True)
    """Address of the issuer's keys. Without it there is one local user of tenant `default`."""
    auth_tenant_claim: str = "custom:tenant"
    """Claim that names the tenant."""
    auth_groups_claim: str = "cognito:groups"
    """Claim that names the groups."""

    groq_api_key: SecretStr | None = Field(default=None, validation_alias="GROQ_API_KEY")
    """Groq's key. Without it answers are extractive."""
    groq_secret: str | None = None
    """Secret (name or ARN in Secrets Manager) whose text is Groq's key; it is read again every few minutes."""
    groq_base_url: str | None = Field(default=None, validation_alias="GROQ_BASE_URL")
    """Another address that speaks Groq's API."""
    model_strong: str = "openai/gpt-oss-120b"
    """Model that writes answers, and settles claims in doubt."""
    model_fast: str = "openai/gpt-oss-20b"
    """Model that plans, grades and checks."""
    model_fallbacks: tuple[str, ...] = ("llama-3.3-70b-versatile", "llama-3.1-8b-instant")
    """Models tried in this order when the one asked for is missing, overloaded or out of quota (a JSON list)."""

    otlp_endpoint: str | None = Field(default=None, validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    """Where traces are sent by OTLP. Without it they are kept with the turn only."""

    max_rounds: int = Field(default=2, ge=0, le=5)
    """Replans in one turn, at most."""
    max_revisions: int = Field(default=1, ge=0, le=5)
    """Revisions of an answer in one turn, at most."""
    turn_seconds: float = Field(default=120, gt=0, le=900)
    """Seconds that a turn may take."""
    turn_tokens: int = Field(default=60_000, ge=1_000)
    """Model tokens that a turn may use, prompt and completion."""
    turn_calls: int = Field(default=12, ge=1, le=50)
    """Model calls that a turn may make."""
    context_tokens: int = Field(default=8_000, ge=1_000)
    """Tokens of one prompt; its parts get shares of it."""
    confident_from: float = Field(default=CONFIDENT_FROM, ge=0, le=2)
    """Evidence from which on what was found is not graded (graph/thresholds.py has the reasoning)."""
    rate_per_minute: int = Field(default=30, ge=1)
    """Turns that one user may start in a minute."""
    rate_burst: int = Field(default=30, ge=1)
    """Turns that one user may start at once."""
    thread_ttl_days: int = Field(default=90, ge=1)
    """Days after its last turn that a thread is kept."""

    table: str | None = None
    """DynamoDB table of turns, documents and leases. Without it they are in the home."""
    bucket: str | None = None
    """S3 bucket of the files. Without it they are in the home."""
    checkpoints_table: str | None = Field(default=None, validate_default=True)
    """DynamoDB table of what conversations remember. Without it that is in the home."""
    worker: str | None = None
    """Lambda function (name or ARN) that runs turns. Without it they run in the process that is asked."""
    callback_url: str | None = None
    """Address by which API Gateway takes what is sent to WebSocket connections."""
    opensearch_url: str | None = None
    """OpenSearch with the passages. Without it they are in the home."""
    opensearch_index: str = Field(default="footnote", pattern=r"^[a-z0-9][a-z0-9_-]*$")
    """Alias of the index."""
    opensearch_profile: Literal["managed", "serverless", "external"] = "external"
    """A domain or a collection of AWS, to which requests are signed, or any other OpenSearch."""
    opensearch_engine: Literal["lucene", "faiss"] = "lucene"
    """Library that finds the nearest vectors; it is fixed when the index is made."""
    opensearch_ef_search: int = Field(default=200, ge=1, le=10_000)
    """Vectors that one search visits."""
    opensearch_ef_construction: int = Field(default=256, ge=2, le=4_096)
    """Vectors that are visited to place a new one; it is fixed when the index is made."""

    embedder: Literal["e5-small-int8", "bedrock-titan-v2", "bedrock-cohere-multilingual"] = "e5-small-int8"
    """Embedding model: inside the package, or of Amazon Bedrock."""
    embedder_dimensions: int = 1024
    """Size of Titan's vectors: 256, 512 or 1024."""
    fusion: Literal["absolute", "rrf"] = "absolute"
    """How the two arms of a search become one list."""

    @field_validator("auth_jwks_url")
    @classmethod
    def _all_or_none_of_the_issuer(cls, url: str | None, read: ValidationInfo) -> str | None:
        """With one of the three missing a server would let everybody in, or nobody."""
        parts = {"AUTH_JWKS_URL": url} | {name.upper(): read.data.get(name) for name in ("auth_issuer", "auth_audience")}
        missing = [f"{PREFIX}{name}" for name, value in parts.items() if not value]
        if 0 < len(missing) < len(parts):
            raise ValueError(f"identity also needs {' and '.join(missing)}")
        if url and not url.startswith(("https://", "http://")):
            raise ValueError("an address is needed, such as https://issuer.example/.well-known/jwks.json")
        return url

    @field_validator("checkpoints_table")
    @classmethod
    def _large_ones_go_to_the_bucket(cls, table: str | None, read: ValidationInfo) -> str | None:
        if table and not read.data.get("bucket"):
            raise ValueError(f"what is too large for the table goes to a bucket, so {PREFIX}BUCKET is needed too")
        return table

    @property
    def has_identity(self) -> bool:
        """Whether callers prove who they are."""
        return self.auth_jwks_url is not None

    @property
    def has_model(self) -> bool:
        """Whether there is a Groq key, or a secret that should hold one."""
        return self.groq_api_key is not None or self.groq_secret is not None

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None, **overrides: object) -> Self:
        """Settings from the environment, with ``overrides`` (from a command line) above it.

        Raises:
            InvalidSetting: a variable is misspelt or its value is out of range; the message names it.
        """
        known = {f"{PREFIX}{name}".upper() for name in cls.model_fields}
        for name in os.environ if environment is None else environment:
            if name.startswith(PREFIX) and name not in known:
                nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
                msg = f"{name} is not a setting. Did you mean {nearest}?"
                raise InvalidSetting(msg)
        try:
            return cls(**overrides)  # type: ignore[arg-type]  # pydantic validates them
        except ValidationError as error:
            first = error.errors()[0]
            field = str(first["loc"][0])
            variable = field if field.isupper() else f"{PREFIX}{field.upper()}"
            msg = f"{variable}={first['input']!r}: {first['msg']}"
            raise InvalidSetting(msg) from None
