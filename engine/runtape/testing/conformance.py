"""What every `Model` has to hold, whatever is behind it.

`await check_model(make, request)` raises AssertionError with the law that is broken. `make` builds a fresh model that
can answer `request`, a recorded call; each law gets models of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing

import anyio

from .. import canon
from ..sample.model import Answer, Model
from ..wire.values import Request

Law = Callable[[Callable[[], Model], Request], Awaitable[None]]


async def check_model(make: Callable[[], Model], request: Request) -> None:
    """Hold a model to every law.

    Raises:
        AssertionError: the first law that is broken.
    """
    for law in LAWS:
        await law(make, request)


async def the_request_is_left_alone(make: Callable[[], Model], request: Request) -> None:
    """The recorded body is shared by everything that reruns it."""
    async with aclosing(make()) as model:
        before = canon.dumps(request.body)
        await model.sample(request, 2)
        assert canon.dumps(request.body) == before, "the request's body was changed"


async def identity_is_stable(make: Callable[[], Model], request: Request) -> None:
    """Replies are found again by it, in any process: it says what answers, not which object or when."""
    async with aclosing(make()) as one, aclosing(make()) as other:
        assert isinstance(one, Model), f"{type(one).__name__} lacks a part of Model"
        before = one.identity
        await one.sample(request, 1)
        assert before, "identity is empty"
        assert before == one.identity == other.identity, "identity differs between equal models, or changes with use"


async def one_to_n_answers(make: Callable[[], Model], request: Request) -> None:
    """Fewer than asked is allowed, none or more is not: each answer is a sample that was paid for."""
    async with aclosing(make()) as model:
        assert model.max_n >= 1, "max_n is below 1"
        for n in (1, 2, 3):
            answers = await model.sample(request, n)
            assert 1 <= len(answers) <= n, f"{len(answers)} answers to a request for {n}"


async def an_answer_is_a_reply_or_says_why_not(make: Callable[[], Model], request: Request) -> None:
    """An unreadable answer must never look like a reply, nor be lost without a word."""
    async with aclosing(make()) as model:
        for answer in await model.sample(request, model.max_n):
            assert (answer.reply is None) == (answer.error is not None), "an answer needs a reply or an error, not both"
            canon.dumps(answer.raw)


async def requests_may_overlap(make: Callable[[], Model], request: Request) -> None:
    """A batch is sent at once."""
    answers: list[Answer] = []
    async with aclosing(make()) as model:

        async def ask() -> None:
            answers.extend(await model.sample(request, 1))

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(ask)
    assert len(answers) == 4, f"4 requests at once gave {len(answers)} answers"


async def closing_twice_is_fine(make: Callable[[], Model], request: Request) -> None:
    """Whoever ends a job closes its model, whether it was used, closed before, or neither."""
    unused, used = make(), make()
    await used.sample(request, 1)
    for model in (unused, used):
        await model.aclose()
        await model.aclose()


LAWS: tuple[Law, ...] = (
    the_request_is_left_alone,  # first: the other laws use the same request
    identity_is_stable,
    one_to_n_answers,
    an_answer_is_a_reply_or_says_why_not,
    requests_may_overlap,
    closing_twice_is_fine,
)
"""Each is a test of its own for a suite that wants one line per law."""
