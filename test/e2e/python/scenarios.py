"""Runs the scenarios of a script and prints one JSON line for each. Knows no SDK, only the HTTP client
that they share, and judges nothing.

stdin: {"url": ..., "runs": [{"scenario": ..., "mode": "sync" | "async", "key": ..., "model": ..., "said": ...}]}
stdout, for each run: {"seen": {...}}, or {"broke": "..."} when it raised.

Scenarios are written once for clients of both modes: `value` and `each` take what either of them answers.
"""

import asyncio
import inspect
import json
import sys
import traceback

import httpx2

# Runs that wait for something do not hold up the others.
AT_ONCE = 6

TOOLS = ["look_up", "add"]
RESULTS = ["42 apples", "43 pears"]
PARAMETERS = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def value(answer):
    """What a call answers, at once or awaited."""
    return await answer if inspect.isawaitable(answer) else answer


async def each(stream):
    """The items of a stream, whichever kind it is."""
    if hasattr(stream, "__aiter__"):
        async for item in stream:
            yield item
    else:
        for item in stream:
            yield item


def added(*pairs):
    """Pairs of figures, added up."""
    return [sum(figures) for figures in zip(*pairs)]


class Wire:
    """Watches what a client is answered; the first `lost` answers get lost on the way."""

    def __init__(self, mode, lost=0):
        self.statuses = []
        self.lost = lost
        hook = self.answered if mode == "sync" else self.answered_async
        # The service speaks plain HTTP here: no client needs to read the machine's certificates.
        self.options = {"event_hooks": {"response": [hook]}, "verify": False}

    def answered(self, response):
        self.statuses.append(response.status_code)
        if len(self.statuses) <= self.lost:
            response.read()
            raise httpx2.ReadError("the answer was lost", request=response.request)

    async def answered_async(self, response):
        self.statuses.append(response.status_code)
        if len(self.statuses) <= self.lost:
            await response.aread()
            raise httpx2.ReadError("the answer was lost", request=response.request)


class Run:
    """One run of a scenario: its mode, its account's key, the model and what is said to it, and clients for it."""

    def __init__(self, url, asked, make_client):
        self.url = url
        self.mode = asked["mode"]
        self.key = asked["key"]
        self.model = asked["model"]
        self.said = asked["said"]
        self.wire = None
        self._make_client = make_client

    def client(self, lost=0, **options):
        self.wire = Wire(self.mode, lost)
        return self._make_client(self, {"max_retries": 0, **options})

    def request(self, **more):
        """What every conversation asks; nothing said is no message at all."""
        messages = [] if self.said is None else [{"role": "user", "content": self.said}]
        return {"model": self.model, "max_tokens": 1000, "messages": messages, **more}


async def perform(make_client, scenarios, job):
    gate = asyncio.Semaphore(AT_ONCE)

    async def line_of(asked):
        async with gate:
            scenario = scenarios[asked["scenario"]](Run(job["url"], asked, make_client))
            try:
                # What blocks has a thread and a loop of its own.
                seen = await (asyncio.to_thread(asyncio.run, scenario) if asked["mode"] == "sync" else scenario)
                return {"seen": seen}
            except Exception:
                return {"broke": traceback.format_exc()}

    for line in await asyncio.gather(*map(line_of, job["runs"])):
        print(json.dumps(line))


def main(make_client, scenarios):
    """`scenarios`: async functions of a Run, which answer what they saw."""
    named = {scenario.__name__: scenario for scenario in scenarios}
    asyncio.run(perform(make_client, named, json.load(sys.stdin)))
