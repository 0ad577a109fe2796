"""The official `anthropic` package against the service."""

import asyncio

import anthropic
from scenarios import each, main, value

MODEL = "bench-model"
TOOL = {"name": "look_up", "input_schema": {"type": "object"}}


def make_client(run, options):
    base = {"api_key": run.key, "base_url": run.url, **options}
    if run.mode == "sync":
        return anthropic.Anthropic(http_client=anthropic.DefaultHttpxClient(**run.wire.options), **base)
    client = anthropic.DefaultAsyncHttpxClient(**run.wire.options)
    return anthropic.AsyncAnthropic(http_client=client, **base)


def request(said, **more):
    return {"model": MODEL, "max_tokens": 1000, "messages": [{"role": "user", "content": said}], **more}


def asking(client, said, **more):
    return client.messages.create(**request(said, **more))


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def raised(error):
    said = error.body["error"] if isinstance(error.body, dict) else {}
    return {
        "class": type(error).__name__,
        "is_api_error": isinstance(error, anthropic.APIError),
        "status": getattr(error, "status_code", None),
        "type": said.get("type"),
        "code": said.get("code"),
        "request_id": getattr(error, "request_id", None),
    }


def is_word(event):
    return event.type == "content_block_delta"


async def whole(run):
    answer = await value(asking(run.client(), "hi there [[output=3]]"))
    return {
        "text": text_of(answer),
        "tokens": [answer.usage.input_tokens, answer.usage.output_tokens],
        "request_id": answer._request_id,
    }


async def final_message(manager):
    """The message that the SDK puts together from a stream, and the stream's request id."""
    if hasattr(manager, "__aenter__"):
        async with manager as events:
            return await events.get_final_message(), events.request_id
    with manager as events:
        return events.get_final_message(), events.request_id


async def stream(run):
    said = "hi there [[output=40 pings=3 fault=split]]"
    answer, request_id = await final_message(run.client().messages.stream(**request(said)))
    tokens = [answer.usage.input_tokens, answer.usage.output_tokens]
    return {"text": text_of(answer), "tokens": tokens, "request_id": request_id}


async def tools(run):
    client = run.client()
    asked = request("use it [[tool=2]]", tools=[TOOL])
    answer = await value(client.messages.create(**asked))
    streamed, _ = await final_message(client.messages.stream(**asked))

    def calls(message):
        return [[block.id, block.name, block.input] for block in message.content if block.type == "tool_use"]

    return {
        "finish": answer.stop_reason,
        "arguments": [call[2] for call in calls(answer)],
        "alike": calls(answer) == calls(streamed),
    }


async def left_amid_stream(run):
    events = await value(asking(run.client(), "[[output=500 chunk_ms=10]]", stream=True))
    words = 0
    async for event in each(events):
        words += is_word(event)
        if words == 5:
            break
    await value(events.close())
    return {"words": words}


async def timed_out(run):
    try:
        await value(asking(run.client(timeout=1.0), "[[head_ms=20000]]"))
    except anthropic.APIError as error:
        return raised(error)


async def cancelled(run):
    try:
        await asyncio.wait_for(asking(run.client(), "[[head_ms=20000]]"), 1.0)
    except asyncio.TimeoutError:
        return {"cancelled": True}


async def broken_stream(run):
    words = 0
    try:
        async for event in each(await value(asking(run.client(), f"[[output=20 {run.given}]]", stream=True))):
            words += is_word(event)
    except anthropic.APIError as error:
        return {**raised(error), "words": words, "told": raised(error)["type"]}


async def trouble(run):
    try:
        await value(run.client().messages.create(max_tokens=5, **run.given))
    except anthropic.APIError as error:
        return raised(error)


async def retried(run):
    answer = await value(asking(run.client(max_retries=1), "hi [[output=1]]"))
    return {"text": text_of(answer), "statuses": run.wire.statuses}


async def not_retried(run):
    try:
        await value(asking(run.client(max_retries=2), "hi"))
    except anthropic.RateLimitError as error:
        should = error.response.headers["x-should-retry"]
        return {**raised(error), "should_retry": should, "statuses": run.wire.statuses}


async def answer_lost(run):
    headers = {"Idempotency-Key": "order-1"}
    answer = await value(asking(run.client(lost=1, max_retries=1), "hi [[output=3]]", extra_headers=headers))
    return {"text": text_of(answer), "statuses": run.wire.statuses}


async def models(run):
    client = run.client()
    ids = [model.id async for model in each(await value(client.models.list(limit=500)))]
    found = await value(client.models.retrieve(MODEL))
    try:
        await value(client.models.retrieve("unpriced-model"))
    except anthropic.NotFoundError as error:
        return {"listed": MODEL in ids, "found": found.id, "missing": error.body["error"]["code"]}


async def count_tokens(run):
    messages = [{"role": "user", "content": "how many are these"}]
    counted = await value(run.client().messages.count_tokens(model=MODEL, messages=messages))
    return {"tokens": counted.input_tokens}


main(
    make_client,
    [
        whole,
        stream,
        tools,
        left_amid_stream,
        timed_out,
        cancelled,
        broken_stream,
        trouble,
        retried,
        not_retried,
        answer_lost,
        models,
        count_tokens,
    ],
)
