"""What holds however many processes ask: rate limit, leases, message ids; and cursors."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions import cursors
from functions.identity import LOCAL, Caller
from functions.leases import LEASE_S, Busy, Lease, Leases
from functions.messages import Messages
from functions.rate import RateLimit
from graph.adapters.sqlite_table import SQLiteTable
from graph.errors import InvalidRequest, MessageIdReused, RateLimited
from graph.ports import Table

OTHER = Caller(tenant="default", user="other")


class Clock:
    """The time of day, moved by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.time()
        monkeypatch.setattr(time, "time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    made = SQLiteTable(tmp_path / "table.sqlite")
    yield made
    await made.close()


# --- Rate -------------------------------------------------------------------------------------------------------------


async def test_a_burst_is_let_through_and_then_one_turn_at_a_time(table: Table, clock: Clock) -> None:
    rate = RateLimit(table, per_minute=30, burst=3)
    for _ in range(3):
        await rate.take(LOCAL)
    with pytest.raises(RateLimited) as refused:
        await rate.take(LOCAL)
    assert refused.value.retry_after_s == pytest.approx(2)

    clock.now += refused.value.retry_after_s + 0.001
    await rate.take(LOCAL)
    with pytest.raises(RateLimited):
        await rate.take(LOCAL)


async def test_patience_earns_no_more_than_a_burst(table: Table, clock: Clock) -> None:
    rate = RateLimit(table, per_minute=30, burst=2)
    await rate.take(LOCAL)
    clock.now += 3600
    await rate.take(LOCAL)
    await rate.take(LOCAL)
    with pytest.raises(RateLimited):
        await rate.take(LOCAL)


async def test_a_clock_that_goes_back_gives_and_takes_nothing(table: Table, clock: Clock) -> None:
    rate = RateLimit(table, per_minute=60, burst=2)
    await rate.take(LOCAL)
    clock.now -= 3600
    await rate.take(LOCAL)
    with pytest.raises(RateLimited) as refused:
        await rate.take(LOCAL)
    assert refused.value.retry_after_s <= 1


async def test_of_many_that_ask_at_once_just_a_burst_is_let_through(table: Table, clock: Clock) -> None:
    assert clock.now
    limits = [RateLimit(table, per_minute=1, burst=5) for _ in range(2)]
    taken = await asyncio.gather(*(limits[n % 2].take(LOCAL) for n in range(20)), return_exceptions=True)

    assert taken.count(None) == 5
    assert sum(isinstance(one, RateLimited) for one in taken) == 15


async def test_each_user_has_a_bucket(table: Table, clock: Clock) -> None:
    assert clock.now
    rate = RateLimit(table, per_minute=1, burst=1)
    await rate.take(LOCAL)
    await rate.take(OTHER)
    with pytest.raises(RateLimited):
        await rate.take(LOCAL)


# --- Leases -----------------------------------------------------------------------------------------------------------


async def test_one_of_many_gets_a_thread(table: Table) -> None:
    leases = [Leases(table), Leases(table)]
    taken = await asyncio.gather(*(leases[n % 2].take("th", f"t_{n}", f"m_{n}") for n in range(20)), return_exceptions=True)
    got = [one for one in taken if isinstance(one, Lease)]

    assert len(got) == 1
    assert {one.message_id for one in taken if isinstance(one, Busy)} == {f"m_{got[0].turn_id.removeprefix('t_')}"}
    assert (await leases[0].take("another", "t_x")).fence == 1


async def test_the_fence_rises_with_every_lease_and_never_falls(table: Table, clock: Clock) -> None:
    leases = Leases(table)
    for fence in (1, 2, 3):
        lease = await leases.take("th", f"t_{fence}")
        assert lease.fence == fence
        await leases.release(lease)
    clock.now += 3600
    assert (await leases.take("th", "t_later")).fence == 4


async def test_a_lease_of_the_dead_is_over_and_they_cannot_come_back(table: Table, clock: Clock) -> None:
    leases = Leases(table)
    dead = await leases.take("th", "t_dead")
    clock.now += LEASE_S - 1
    with pytest.raises(Busy):
        await leases.take("th", "t_next")
    clock.now += 2
    heir = await leases.take("th", "t_next")

    assert heir.fence > dead.fence
    assert not await leases.renew(dead)
    await leases.release(dead)
    assert await leases.is_held("th", "t_next")
    assert not await leases.is_held("th", "t_dead")


async def test_a_renewed_lease_is_kept(table: Table, clock: Clock) -> None:
    leases = Leases(table)
    lease = await leases.take("th", "t", "m")
    for _ in range(5):
        clock.now += LEASE_S / 3
        assert await leases.renew(lease, "m")
    with pytest.raises(Busy) as busy:
        await leases.take("th", "t_next")
    assert busy.value.message_id == "m"


# --- Messages ---------------------------------------------------------------------------------------------------------


async def test_a_message_leads_to_its_turn_for_a_day(table: Table, clock: Clock) -> None:
    messages = Messages(table)
    assert await messages.claim(LOCAL, "m", "Why?", "t_1")
    assert not await messages.claim(LOCAL, "m", "Why?", "t_2")
    clock.now += 24 * 3600 - 2
    assert await messages.find(LOCAL, "m", "Why?") == "t_1"
    clock.now += 3
    assert await messages.find(LOCAL, "m", "Why?") is None
    assert await messages.claim(LOCAL, "m", "How?", "t_3")


async def test_a_message_id_belongs_to_its_question_and_its_user(table: Table) -> None:
    messages = Messages(table)
    await messages.claim(LOCAL, "m", "Why?", "t_1")
    with pytest.raises(MessageIdReused):
        await messages.find(LOCAL, "m", "Why ?")
    assert await messages.find(OTHER, "m", "How?") is None


async def test_only_the_turn_that_has_a_claim_gives_it_up(table: Table) -> None:
    messages = Messages(table)
    await messages.claim(LOCAL, "m", "Why?", "t_1")
    await messages.drop(LOCAL, "m", "t_2")
    assert await messages.find(LOCAL, "m", "Why?") == "t_1"
    await messages.drop(LOCAL, "m", "t_1")
    assert await messages.find(LOCAL, "m", "Why?") is None


# --- Cursors and names ------------------------------------------------------------------------------------------------


@given(place=st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_a_cursor_leads_back_to_its_place(place: str) -> None:
    cursor = cursors.encode(place)
    assert cursors.decode(cursor) == place
    assert cursor is not None
    assert cursor.isascii()


@pytest.mark.parametrize("cursor", ["", "=", "a", "!!!!", "YQ==", "YR", "/w", "_w", "é", "Y Q", "YQ\n"])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        cursors.decode(cursor)


@given(one=st.tuples(st.text(), st.text()), two=st.tuples(st.text(), st.text()))
def test_no_two_users_share_a_namespace(one: tuple[str, str], two: tuple[str, str]) -> None:
    keys = {Caller(tenant=tenant, user=user).key for tenant, user in (one, two)}
    assert len(keys) == len({one, two})
