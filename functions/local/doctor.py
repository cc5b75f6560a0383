"""The command `footnote doctor` where the parts are: each that the settings name is used once."""

import asyncio
import os
import secrets
import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from functions.local.clocks import compare
from functions.local.finding import Check, Finding, examine
from graph.ports import Item
from graph.settings import Settings
from graph.wiring import Wiring

_UNRELATED = (
    "The museum opens at nine.", "Invoices are kept for ten years.", "Photosynthesis turns light into sugar.",
    "The match ended in a draw.", "Reset the router by holding the button.", "Bake the bread for forty minutes.",
    "The treaty was signed in 1648.", "Cats sleep most of the day.",
)  # fmt: skip
_WITHIN = 3
"""Standard deviations from the calibration that are no cause for concern."""
_GROQ = "https://api.groq.com"


async def doctor(wiring: Wiring) -> int:
    """Check all parts; 1 if one fails."""
    try:
        return await examine(list(_checks(wiring)))
    finally:
        await wiring.close()


def _checks(wiring: Wiring) -> Iterator[tuple[str, Check]]:
    settings = wiring.settings
    yield "settings", partial(_settings, settings)
    is_there = settings.home.is_dir()
    if not all((settings.table, settings.bucket, settings.opensearch_url, settings.checkpoints_table)):
        yield "home", partial(_home, settings)
    yield "embedder", partial(_embedder, wiring)
    if settings.table or is_there:
        yield "table", partial(_table, wiring)
    if settings.bucket or is_there:
        yield "bucket", partial(_bucket, wiring)
    if settings.checkpoints_table:
        yield "checkpoints", partial(_keys, settings.checkpoints_table, ("PK", "SK"))
    if settings.opensearch_url or is_there:
        yield "index", partial(_index, wiring)
    yield "models", partial(_models, wiring)
    if settings.has_identity:
        yield "identity", partial(_identity, settings)
    if settings.has_identity or settings.has_model:
        yield "clock", partial(_clock, settings.auth_jwks_url or settings.groq_base_url or _GROQ)


async def _settings(settings: Settings) -> Finding:
    named = ", ".join(sorted(settings.model_fields_set)) or "none"
    return Finding("ok", f"set: {named}; the others have their defaults (footnote doctor --settings)")


async def _home(settings: Settings) -> Finding:
    place = next(place for place in (settings.home.absolute(), *settings.home.absolute().parents) if place.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        return Finding("fails", f"{place} cannot be written", "make it writable, or set FOOTNOTE_HOME")
    if place != settings.home.absolute():
        return Finding("note", f"{settings.home} is not there yet", "footnote serve makes it")
    return Finding("ok", f"{settings.home} can be written")


async def _embedder(wiring: Wiring) -> Finding:
    embedder = wiring.embedder
    began = time.perf_counter()
    vectors = await embedder.embed(_UNRELATED, "passage")
    took_ms = (time.perf_counter() - began) * 1000
    if vectors.shape[1] != embedder.dimensions:
        return Finding("fails", f"{embedder.model}: vectors of {vectors.shape[1]}, not {embedder.dimensions}", "report this")
    near = float((vectors @ vectors.T)[np.triu_indices(len(_UNRELATED), 1)].mean())
    usual = embedder.calibration
    said = f"{embedder.model}, {embedder.dimensions} dimensions, {took_ms:.0f} ms; unrelated texts have cosine {near:.2f}"
    if abs(near - usual.random_mean) > _WITHIN * usual.random_std:
        return Finding("note", f"{said}, {usual.random_mean} is expected", "what is near enough may be judged wrongly")
    return Finding("ok", said)


async def _table(wiring: Wiring) -> Finding:
    probe = Item(pk="doctor", sk=secrets.token_hex(8), value={"probe": True}, expires_at=int(time.time()) + 60)
    await wiring.table.put(probe)
    found = await wiring.table.get(probe.pk, probe.sk)
    await wiring.table.delete(probe.pk, probe.sk)
    where = wiring.settings.table or "in the home"
    return Finding("ok", f"{where}: written and read") if found == probe else Finding("fails", f"{where}: not what was written")


async def _keys(table: str, keys: tuple[str, str]) -> Finding:
    from botocore.exceptions import BotoCoreError, ClientError

    from graph.adapters import boto

    try:
        described = await asyncio.to_thread(boto.client("dynamodb").describe_table, TableName=table)
    except (BotoCoreError, ClientError) as error:
        return Finding("fails", f"{table}: {error}", "deploy it, or name another")
    found = tuple(key["AttributeName"] for key in described["Table"]["KeySchema"])
    if found != keys:
        return Finding("fails", f"{table} has the keys {', '.join(found)}, not {', '.join(keys)}", "name another table")
    return Finding("ok", f"{table}: answers")


async def _bucket(wiring: Wiring) -> Finding:
    await wiring.bucket.head("uploads/doctor/probe.md")
    return Finding("ok", f"{wiring.settings.bucket or 'in the home'}: answers")


async def _index(wiring: Wiring) -> Finding:
    embedder = wiring.embedder
    await wiring.index.check(embedder.model, embedder.dimensions)
    where = wiring.settings.opensearch_index if wiring.settings.opensearch_url else "in the home"
    return Finding("ok", f"{where}: made for the embedder and its {embedder.dimensions} dimensions")


async def _models(wiring: Wiring) -> Finding:  # noqa: PLR0911  # one for each thing that may be wrong
    from graph.adapters.groq import GroqReasoner

    settings, reasoner = wiring.settings, wiring.reasoner
    if not isinstance(reasoner, GroqReasoner):
        return Finding("note", "no Groq key: answers are sentences of the documents", "set GROQ_API_KEY")
    where = f"the secret {settings.groq_secret}" if settings.groq_api_key is None else "GROQ_API_KEY"
    absent: list[str] = []
    for model in dict.fromkeys((settings.model_strong, settings.model_fast, *settings.model_fallbacks)):
        match await reasoner.probe(model):
            case None:
                continue
            case "no_key":
                return Finding("note", "no Groq key: answers are sentences of the documents", f"put one into {where}")
            case "wrong_key":
                return Finding("fails", "Groq refuses the key", f"put one of https://console.groq.com/keys into {where}")
            case "missing":
                absent.append(model)
            case "rate_limited":
                return Finding("note", f"the key is right; its limit for {model} is reached", "wait, or raise it at Groq")
            case kind:
                return Finding("fails", f"Groq does not answer for {model} ({kind})", "see to the network and GROQ_BASE_URL")
    if absent:
        needed = {settings.model_strong, settings.model_fast} & set(absent)
        names = "FOOTNOTE_MODEL_STRONG, _FAST or _FALLBACKS"
        return Finding("fails" if needed else "note", f"Groq has no {', '.join(absent)} for this key", f"change {names}")
    return Finding("ok", f"the key is right; {settings.model_strong} and {settings.model_fast} answer")


async def _identity(settings: Settings) -> Finding:
    from functions.jwks import ALGORITHMS, Keys

    keys = Keys(settings.auth_jwks_url or "")
    found = [key for algorithm in ALGORITHMS for key in await keys.find(None, algorithm)]
    if not found:
        return Finding("fails", f"{settings.auth_jwks_url} shows no key for {' or '.join(ALGORITHMS)}", "set another address")
    return Finding("ok", f"{settings.auth_issuer}: {len(found)} keys")


async def _clock(url: str) -> Finding:
    import httpx

    try:
        async with httpx.AsyncClient(timeout=10) as client:
            return compare((await client.get(url)).headers.get("Date"))
    except httpx.HTTPError as error:
        return Finding("note", f"{url} says no time to compare with ({type(error).__name__})")
