"""The official `anthropic` package against the service."""

import json

import anthropic
from conduct import conduct_of
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


def said_in(error):
    said = error.body["error"] if isinstance(error.body, dict) else {}
    return {"type": said.get("type"), "code": said.get("code")}


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


async def count_tokens(run):
    request = run.request()
    del request["max_tokens"]
    counted = await value(run.client().messages.count_tokens(**request))
    return {"tokens": counted.input_tokens}


main(
    make_client,
    [
        *conduct_of(anthropic, asking, text_of, is_word, said_in, {"limit": 500}),
        whole,
        streamed,
        tools,
        tools_streamed,
        thinking,
        structured,
        image,
        count_tokens,
    ],
)
