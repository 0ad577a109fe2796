"""The official `openai` package against the service: its conversations."""

import json

import openai
from endpoints import ENDPOINTS
from conduct import conduct_of
from scenarios import PARAMETERS, PICTURE, RESULTS, TOOLS, added, each, main, value

TOOL_LIST = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in TOOLS]


def make_client(run, options):
    base = {"api_key": run.key, "base_url": f"{run.url}/v1", **options}
    if run.mode == "sync":
        return openai.OpenAI(http_client=openai.DefaultHttpxClient(**run.wire.options), **base)
    return openai.AsyncOpenAI(http_client=openai.DefaultAsyncHttpxClient(**run.wire.options), **base)


def asking(client, run, **more):
    return client.chat.completions.create(**run.request(**more))


def text_of(answer):
    return answer.choices[0].message.content


def tokens_of(usage):
    return [usage.prompt_tokens, usage.completion_tokens]


def cached_of(usage):
    return usage.prompt_tokens_details.cached_tokens


def said_in(error):
    return {"type": getattr(error, "type", None), "code": getattr(error, "code", None)}


async def whole(run):
    answer = await value(asking(run.client(), run))
    return {
        "text": text_of(answer),
        "tokens": tokens_of(answer.usage),
        "cached": cached_of(answer.usage),
        "request_id": answer._request_id,
    }


async def streamed(run):
    options = {"include_usage": True}
    events = await value(asking(run.client(), run, stream=True, stream_options=options))
    text, usage = "", None
    async for chunk in each(events):
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
        usage = chunk.usage or usage
    return {
        "text": text,
        "tokens": tokens_of(usage),
        "cached": cached_of(usage),
        "request_id": events.response.headers["x-request-id"],
    }


async def ask_whole(client, request):
    return await value(client.chat.completions.create(**request))


async def ask_streamed(client, request):
    """The completion that the SDK puts together from a stream."""
    manager = client.chat.completions.stream(**request, stream_options={"include_usage": True})
    if hasattr(manager, "__aenter__"):
        async with manager as events:
            return await events.get_final_completion()
    with manager as events:
        return events.get_final_completion()


async def loop(run, ask):
    client = run.client()
    request = run.request(tools=TOOL_LIST)
    first = await ask(client, request)
    message = first.choices[0].message
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": result}
        for call, result in zip(message.tool_calls, RESULTS)
    ]
    said = message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)
    for call in said["tool_calls"]:
        call["function"].pop("parsed_arguments", None)
    last = await ask(client, {**request, "messages": [*request["messages"], said, *results]})
    return {
        "finish": first.choices[0].finish_reason,
        "calls": [[call.function.name, json.loads(call.function.arguments)] for call in message.tool_calls],
        "text": text_of(last),
        "tokens": added(tokens_of(first.usage), tokens_of(last.usage)),
    }


async def tools(run):
    return await loop(run, ask_whole)


async def tools_streamed(run):
    return await loop(run, ask_streamed)


async def thinking(run):
    client = run.client()
    request = run.request(max_tokens=3000, reasoning_effort="low")
    first = await ask_whole(client, request)
    message = first.choices[0].message
    said = [message.to_dict(), {"role": "user", "content": "and on [[output=2]]"}]
    last = await ask_whole(client, {**request, "messages": [*request["messages"], *said]})
    return {
        # The makers' SDK does not know thoughts, but hands on what comes.
        "thoughts": (message.model_extra or {}).get("reasoning_content"),
        "text": text_of(first),
        "again": text_of(last),
        "tokens": added(tokens_of(first.usage), tokens_of(last.usage)),
    }


async def structured(run):
    form = {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": PARAMETERS}}
    answer = await value(asking(run.client(), run, response_format=form))
    return {"value": json.loads(text_of(answer)), "tokens": tokens_of(answer.usage)}


async def image(run):
    url = f"data:image/png;base64,{PICTURE}"
    content = [{"type": "text", "text": run.said}, {"type": "image_url", "image_url": {"url": url}}]
    answer = await value(asking(run.client(), run, messages=[{"role": "user", "content": content}]))
    return {"text": text_of(answer), "tokens": tokens_of(answer.usage)}


def is_word(chunk):
    return bool(chunk.choices and chunk.choices[0].delta.content)


main(
    make_client,
    [
        *conduct_of(openai, asking, text_of, is_word, said_in, {}),
        whole,
        streamed,
        tools,
        tools_streamed,
        thinking,
        structured,
        image,
        *ENDPOINTS,
    ],
)
