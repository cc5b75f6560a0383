"""What `footnote doctor` finds, a line for each part."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from graph.errors import FootnoteError

_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Finding:
    """How a part is: ``note`` is for what works, but not as one may think."""

    state: Literal["ok", "note", "fails"]
    detail: str
    remedy: str = ""


Check: TypeAlias = Callable[[], Awaitable[Finding]]


async def examine(checks: Sequence[tuple[str, Check]]) -> int:
    """Do the checks one after another, print what they find, and say by the exit code whether one fails."""
    states: list[str] = []
    for name, check in checks:
        finding = await _finding(check)
        print(line(name, finding), flush=True)
        states.append(finding.state)
    return int("fails" in states)


def line(name: str, finding: Finding) -> str:
    """One line, whatever the finding says."""
    said = " ".join(finding.detail.split())
    return f"{finding.state:<6}{name:<12}{said}{f' → {finding.remedy}' if finding.remedy else ''}"


async def _finding(check: Check) -> Finding:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await check()
    except FootnoteError as error:
        return Finding("fails", str(error))
    except TimeoutError:
        return Finding("fails", f"no answer within {_PATIENCE_S:.0f} s", "see to the network between here and there")
    except Exception as error:  # noqa: BLE001  # a part that fails in a way of its own must not hide the others
        return Finding("fails", f"{type(error).__name__}: {error}")
