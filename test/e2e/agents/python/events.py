"""The events of streamed responses as the maker's SDK for Python shows them.

Reads {"url", "requests"} as JSON from stdin, each request with its key and its body; prints what each showed, in order.
"""

import asyncio
import json
import sys
import traceback

from openai import AsyncOpenAI


async def shown(url, key, body):
    client = AsyncOpenAI(base_url=f"{url}/v1", api_key=key)
    events = []
    try:
        async with client.responses.stream(**body) as stream:
            async for event in stream:
                events.append([event.type, event.sequence_number])
            # The SDK itself returns a response only when it is completed; the last event has it in any case.
            final = event.response.model_dump(mode="json")
            if event.type == "response.completed":
                final = (await stream.get_final_response()).model_dump(mode="json")
    except Exception:
        return {"events": events, "broke": traceback.format_exc()}
    return {"events": events, "final": final}


async def main():
    asked = json.load(sys.stdin)
    requests = asked["requests"]
    for one in await asyncio.gather(*(shown(asked["url"], r["key"], r["body"]) for r in requests)):
        print(json.dumps(one))


asyncio.run(main())
