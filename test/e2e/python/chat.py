"""The official `openai` package against the service."""

import asyncio
import json

import openai
from scenarios import each, main, value

MODEL = "bench-model"
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}


def make_client(run, options):
    base = {"api_key": run.key, "base_url": f"{run.url}/v1", **options}
    if run.mode == "sync":
        return openai.OpenAI(http_client=openai.DefaultHttpxClient(**run.wire.options), **base)
    return openai.AsyncOpenAI(http_client=openai.DefaultAsyncHttpxClient(**run.wire.options), **base)


def asking(client, said, **more):
    messages = [{"role": "user", "content": said}]
    return client.chat.completions.create(model=MODEL, messages=messages, **more)


def raised(error):
    return {
        "class": type(error).__name__,
        "is_api_error": isinstance(error, openai.APIError),
        "status": getattr(error, "status_code", None),
        "type": getattr(error, "type", None),
        "code": getattr(error, "code", None),
        "request_id": getattr(error, "request_id", None),
    }


async def whole(run):
    answer = await value(asking(run.client(), "hi there [[output=3]]"))
    return {
        "text": answer.choices[0].message.content,
        "tokens": [answer.usage.prompt_tokens, answer.usage.completion_tokens],
        "request_id": answer._request_id,
    }


async def stream(run):
    options = {"include_usage": True}
    events = await value(asking(run.client(), "hi there [[output=40 fault=split]]", stream=True, stream_options=options))
    text, tokens = "", None
    async for chunk in each(events):
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
        if chunk.usage:
            tokens = [chunk.usage.prompt_tokens, chunk.usage.completion_tokens]
    return {"text": text, "tokens": tokens, "request_id": events.response.headers["x-request-id"]}


async def tools(run):
    client = run.client()
    said = "use it [[tool=2]]"
    answer = await value(asking(client, said, tools=[TOOL]))
    calls = {}
    async for chunk in each(await value(asking(client, said, tools=[TOOL], stream=True))):
        for part in chunk.choices[0].delta.tool_calls or [] if chunk.choices else []:
            call = calls.setdefault(part.index, ["", "", ""])
            call[0] += part.id or ""
            call[1] += part.function.name or ""
            call[2] += part.function.arguments or ""
    whole_calls = [[c.id, c.function.name, c.function.arguments] for c in answer.choices[0].message.tool_calls]
    return {
        "finish": answer.choices[0].finish_reason,
        "arguments": [json.loads(call[2]) for call in whole_calls],
        "alike": whole_calls == [calls[index] for index in sorted(calls)],
    }


async def left_amid_stream(run):
    events = await value(asking(run.client(), "[[output=500 chunk_ms=10]]", stream=True))
    words = 0
    async for chunk in each(events):
        words += bool(chunk.choices and chunk.choices[0].delta.content)
        if words == 5:
            break
    await value(events.close())
    return {"words": words}


async def timed_out(run):
    try:
        await value(asking(run.client(timeout=1.0), "[[head_ms=20000]]"))
    except openai.APIError as error:
        return raised(error)


async def cancelled(run):
    try:
        await asyncio.wait_for(asking(run.client(), "[[head_ms=20000]]"), 1.0)
    except asyncio.TimeoutError:
        return {"cancelled": True}


async def broken_stream(run):
    words = 0
    try:
        async for chunk in each(await value(asking(run.client(), f"[[output=20 {run.given}]]", stream=True))):
            words += bool(chunk.choices and chunk.choices[0].delta.content)
    except openai.APIError as error:
        return {**raised(error), "words": words, "told": error.body["type"]}


async def trouble(run):
    try:
        await value(run.client().chat.completions.create(max_tokens=5, **run.given))
    except openai.APIError as error:
        return raised(error)


async def retried(run):
    client = run.client(max_retries=1)
    answer = await value(asking(client, "hi [[output=1]]"))
    return {"text": answer.choices[0].message.content, "statuses": run.wire.statuses}


async def not_retried(run):
    try:
        await value(asking(run.client(max_retries=2), "hi"))
    except openai.RateLimitError as error:
        should = error.response.headers["x-should-retry"]
        return {**raised(error), "should_retry": should, "statuses": run.wire.statuses}


async def answer_lost(run):
    headers = {"Idempotency-Key": "order-1"}
    answer = await value(asking(run.client(lost=1, max_retries=1), "hi [[output=3]]", extra_headers=headers))
    return {"text": answer.choices[0].message.content, "statuses": run.wire.statuses}


async def models(run):
    client = run.client()
    ids = [model.id async for model in each(await value(client.models.list()))]
    found = await value(client.models.retrieve(MODEL))
    try:
        await value(client.models.retrieve("unpriced-model"))
    except openai.NotFoundError as error:
        return {"listed": MODEL in ids, "found": found.id, "missing": error.code}


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
    ],
)
