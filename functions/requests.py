"""What is asked of the agent, as it lies in the log until a worker takes it on."""

from dataclasses import asdict
from typing import Any

from graph.filters import Condition
from graph.ports import Access, Json
from graph.turn import Ask, Resume


def to_json(request: Ask | Resume) -> Json:
    """The request as plain JSON."""
    access: Json = {"tenant": request.access.tenant, "groups": sorted(request.access.groups)}
    return {**asdict(request), "access": access, "kind": "ask" if isinstance(request, Ask) else "resume"}


def from_json(value: Json, *, seconds: float) -> Ask | Resume:
    """The request again, with what time there is for it."""
    plain: dict[str, Any] = {**value, "seconds": seconds}
    access = Access(tenant=plain["access"]["tenant"], groups=frozenset(plain["access"]["groups"]))
    if plain.pop("kind") == "resume":
        return Resume(**{**plain, "access": access})
    filters = tuple(Condition(one["field"], one["operator"], tuple(one["values"])) for one in plain["filters"])
    return Ask(**{**plain, "access": access, "filters": filters})
