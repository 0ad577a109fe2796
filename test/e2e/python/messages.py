"""The official `anthropic` package against the service."""

import asyncio
import json

import anthropic
from scenarios import PARAMETERS, PICTURE, RESULTS, TOOLS, added, each, main, value

TOOL_LIST = [{"name": name, "input_schema": PARAMETERS} for name in TOOLS]


def make_client(run, options):
    base = {"api_key": run.key, "base_url": run.url, **options}
    if run.mode == "sync":
        return anthropic.Anthropic(http_client=anthropic.DefaultHttpxClient(**run.wire.options), **base)
    client = anthropic.DefaultAsyncHttpxClient(**run.wire.options)
    return anthropic.AsyncAnthropic(http_client=client, **base)


def asking(client, run, **more):
    return client.messages.create(**run.request(**more))


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def tokens_of(usage):
    prompt = [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens]
    return [sum(part or 0 for part in prompt), usage.output_tokens]


def raised(error):
    said = error.body["error"] if isinstance(error.body, dict) else {}
    return {
        "class": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "type": said.get("type"),
        "code": said.get("code"),
        "request_id": getattr(error, "request_id", None),
    }


async def ask_whole(client, request):
    return await value(client.messages.create(**request))


async def final_message(manager):
    """The message that the SDK puts together from a stream, and the stream's request id."""
    if hasattr(manager, "__aenter__"):
        async with manager as events:
            return await events.get_final_message(), events.request_id
    with manager as events:
        return events.get_final_message(), events.request_id


async def ask_streamed(client, request):
    return (await final_message(client.messages.stream(**request)))[0]


def shown(message, request_id):
    return {
        "text": text_of(message),
        "tokens": tokens_of(message.usage),
        "cached": message.usage.cache_read_input_tokens,
        "request_id": request_id,
    }


async def whole(run):
    answer = await value(asking(run.client(), run))
    return shown(answer, answer._request_id)


async def streamed(run):
    return shown(*await final_message(run.client().messages.stream(**run.request())))


async def loop(run, ask):
    client = run.client()
    request = run.request(tools=TOOL_LIST)
    first = await ask(client, request)
    calls = [block for block in first.content if block.type == "tool_use"]
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": result} for call, result in zip(calls, RESULTS)
    ]
    turns = [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    last = await ask(client, {**request, "messages": [*request["messages"], *turns]})
    return {
        "finish": first.stop_reason,
        "calls": [[call.name, call.input] for call in calls],
        "text": text_of(last),
        "tokens": added(tokens_of(first.usage), tokens_of(last.usage)),
    }


async def tools(run):
    return await loop(run, ask_whole)


async def tools_streamed(run):
    return await loop(run, ask_streamed)


async def thinking(run):
    client = run.client()
    request = run.request(max_tokens=3000, thinking={"type": "enabled", "budget_tokens": 1024})
    first = await ask_whole(client, request)
    turns = [
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": "and on [[output=2]]"},
    ]
    last = await ask_whole(client, {**request, "messages": [*request["messages"], *turns]})
    return {
        "thoughts": "".join(block.thinking for block in first.content if block.type == "thinking"),
        "text": text_of(first),
        "again": text_of(last),
        "tokens": added(tokens_of(first.usage), tokens_of(last.usage)),
    }


async def structured(run):
    form = {"format": {"type": "json_schema", "schema": PARAMETERS}}
    answer = await value(asking(run.client(), run, output_config=form))
    return {"value": json.loads(text_of(answer)), "tokens": tokens_of(answer.usage)}


async def image(run):
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    content = [{"type": "text", "text": run.said}, {"type": "image", "source": source}]
    answer = await value(asking(run.client(), run, messages=[{"role": "user", "content": content}]))
    return {"text": text_of(answer), "tokens": tokens_of(answer.usage)}


def is_word(event):
    return event.type == "content_block_delta"


async def left_amid_stream(run):
    events = await value(asking(run.client(), run, stream=True))
    words = 0
    async for event in each(events):
        words += is_word(event)
        if words == 5:
            break
    await value(events.close())
    return {"words": words}


async def timed_out(run):
    try:
        await value(asking(run.client(timeout=2.0), run))
    except anthropic.APIError as error:
        return raised(error)


async def cancelled(run):
    try:
        await asyncio.wait_for(asking(run.client(), run), 2.0)
    except asyncio.TimeoutError:
        return {"cancelled": True}


async def broken_stream(run):
    words = 0
    try:
        async for event in each(await value(asking(run.client(), run, stream=True))):
            words += is_word(event)
    except anthropic.APIError as error:
        return {"is_api_error": True, "words": words, "told": raised(error)["type"]}


async def trouble(run):
    try:
        await value(asking(run.client(), run, max_tokens=5))
    except anthropic.APIError as error:
        return raised(error)


async def retried(run):
    answer = await value(asking(run.client(max_retries=1), run))
    return {"text": text_of(answer), "statuses": run.wire.statuses}


async def not_retried(run):
    try:
        await value(asking(run.client(max_retries=2), run))
    except anthropic.RateLimitError as error:
        should = error.response.headers["x-should-retry"]
        return {"code": raised(error)["code"], "should_retry": should, "statuses": run.wire.statuses}


async def answer_lost(run):
    headers = {"Idempotency-Key": "order-1"}
    answer = await value(asking(run.client(lost=1, max_retries=1), run, extra_headers=headers))
    return {"text": text_of(answer), "statuses": run.wire.statuses}


async def models(run):
    client = run.client()
    ids = [model.id async for model in each(await value(client.models.list(limit=500)))]
    found = await value(client.models.retrieve(run.model))
    try:
        await value(client.models.retrieve("unpriced-model"))
    except anthropic.APIError as error:
        missing = raised(error)
    return {
        "listed": run.model in ids,
        "found": found.id,
        "class": missing["class"],
        "missing": missing["code"],
    }


async def count_tokens(run):
    request = run.request()
    del request["max_tokens"]
    counted = await value(run.client().messages.count_tokens(**request))
    return {"tokens": counted.input_tokens}


main(
    make_client,
    [
        whole,
        streamed,
        tools,
        tools_streamed,
        thinking,
        structured,
        image,
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
