"""Scenarios that the makers' packages go through alike: leaving, broken streams, troubles, what they ask again by
themselves, and the list of models."""

import asyncio

from scenarios import each, value


def conduct_of(sdk, ask, text_of, is_word, said_in, listing):
    """`ask(client, run, **request)` asks; `is_word(item)` knows a word of a stream; `said_in(error)` has its type and code;
    `listing`: how models are listed."""

    def raised(error):
        return {
            "class": type(error).__name__,
            "status": getattr(error, "status_code", None),
            "request_id": getattr(error, "request_id", None),
            **said_in(error),
        }

    async def failing(ask_it):
        try:
            await value(ask_it())
        except sdk.APIError as error:
            return raised(error)

    async def left_amid_stream(run):
        events = await value(ask(run.client(), run, stream=True))
        words = 0
        async for item in each(events):
            words += is_word(item)
            if words == 5:
                break
        await value(events.close())
        return {"words": words}

    async def timed_out(run):
        return await failing(lambda: ask(run.client(timeout=2.0), run))

    async def cancelled(run):
        try:
            await asyncio.wait_for(ask(run.client(), run), 2.0)
        except asyncio.TimeoutError:
            return {"cancelled": True}

    async def broken_stream(run):
        words = 0
        try:
            async for item in each(await value(ask(run.client(), run, stream=True))):
                words += is_word(item)
        except sdk.APIError as error:
            return {"is_api_error": True, "words": words, "error_type": raised(error)["type"]}

    async def trouble(run):
        return await failing(lambda: ask(run.client(), run, max_tokens=5))

    async def retried(run):
        answer = await value(ask(run.client(max_retries=1), run))
        return {"text": text_of(answer), "statuses": run.wire.statuses}

    async def not_retried(run):
        try:
            await value(ask(run.client(max_retries=2), run))
        except sdk.RateLimitError as error:
            should = error.response.headers["x-should-retry"]
            return {"code": raised(error)["code"], "should_retry": should, "statuses": run.wire.statuses}

    async def answer_lost(run):
        headers = {"Idempotency-Key": "order-1"}
        answer = await value(ask(run.client(lost=1, max_retries=1), run, extra_headers=headers))
        return {"text": text_of(answer), "statuses": run.wire.statuses}

    async def models(run):
        client = run.client()
        ids = [model.id async for model in each(await value(client.models.list(**listing)))]
        found = await value(client.models.retrieve(run.model))
        known = (await value(client.models.retrieve("gpt-4o"))).to_dict()
        missing = await failing(lambda: client.models.retrieve("unpriced-model"))
        return {
            "listed": run.model in ids,
            "found": found.id,
            "limits": [
                known.get("context_window", known.get("max_input_tokens")),
                known.get("max_output_tokens", known.get("max_tokens")),
            ],
            "class": missing["class"],
            "missing": missing["code"],
        }

    return [left_amid_stream, timed_out, cancelled, broken_stream, trouble, retried, not_retried, answer_lost, models]
