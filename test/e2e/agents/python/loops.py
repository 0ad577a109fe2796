"""The loop of tool calls in Python: the OpenAI Agents SDK, LangChain and the maker's SDK.

Reads {"client", "requests"} as JSON from stdin; prints one report a line, in the order of the requests. Judges nothing.
"""

import asyncio
import json
import sys
import traceback

TOOL = "repeat"
DESCRIPTION = "Repeats a text."
PARAMETERS = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


def repeat(text):
    return f"{text}, again"


async def agents_loop(request, responses):
    from agents import Agent, FunctionTool, ModelSettings, OpenAIProvider, RunConfig, Runner
    from openai import AsyncOpenAI

    calls = []

    async def invoke(_context, given):
        text = json.loads(given)["text"]
        calls.append(text)
        return repeat(text)

    client = AsyncOpenAI(base_url=f"{request['url']}/v1", api_key=request["key"])
    tool = FunctionTool(
        name=TOOL, description=DESCRIPTION, params_json_schema=PARAMETERS, on_invoke_tool=invoke
    )
    agent = Agent(
        name="repeater",
        instructions="Be brief.",
        model=request["model"],
        model_settings=ModelSettings(include_usage=True),
        tools=[tool],
    )
    provider = OpenAIProvider(openai_client=client, use_responses=responses)
    config = RunConfig(model_provider=provider, tracing_disabled=True)
    asked = {"max_turns": request["requests_max"], "run_config": config}
    if request["stream"]:
        result = Runner.run_streamed(agent, request["said"], **asked)
        async for _ in result.stream_events():
            pass
    else:
        result = await Runner.run(agent, request["said"], **asked)
    usage = result.context_wrapper.usage
    return {
        "text": result.final_output,
        "calls": calls,
        "tokens": [usage.input_tokens, usage.output_tokens],
    }


async def langchain_loop(request, responses):
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(
        model=request["model"],
        base_url=f"{request['url']}/v1",
        api_key=request["key"],
        use_responses_api=responses,
        stream_usage=True,
    ).bind_tools(
        [
            {
                "type": "function",
                "function": {"name": TOOL, "description": DESCRIPTION, "parameters": PARAMETERS},
            }
        ]
    )
    messages, calls, tokens = [HumanMessage(request["said"])], [], [0, 0]
    for _ in range(request["requests_max"]):
        if request["stream"]:
            answer = None
            async for chunk in model.astream(messages):
                answer = chunk if answer is None else answer + chunk
        else:
            answer = await model.ainvoke(messages)
        tokens[0] += answer.usage_metadata["input_tokens"]
        tokens[1] += answer.usage_metadata["output_tokens"]
        if not answer.tool_calls:
            return {"text": answer.text, "calls": calls, "tokens": tokens}
        messages.append(answer)
        for call in answer.tool_calls:
            calls.append(call["args"]["text"])
            messages.append(ToolMessage(repeat(call["args"]["text"]), tool_call_id=call["id"]))
    raise RuntimeError("the loop did not end")


async def openai_loop(request, _responses):
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=f"{request['url']}/v1", api_key=request["key"])
    tools = [
        {
            "type": "function",
            "name": TOOL,
            "description": DESCRIPTION,
            "parameters": PARAMETERS,
            "strict": True,
        }
    ]
    given, calls, tokens = [{"role": "user", "content": request["said"]}], [], [0, 0]
    for _ in range(request["requests_max"]):
        body = {"model": request["model"], "input": given, "tools": tools, "store": False}
        if request["stream"]:
            async with client.responses.stream(**body) as stream:
                response = await stream.get_final_response()
        else:
            response = await client.responses.create(**body)
        tokens[0] += response.usage.input_tokens
        tokens[1] += response.usage.output_tokens
        asked = [item for item in response.output if item.type == "function_call"]
        if not asked:
            return {"text": response.output_text, "calls": calls, "tokens": tokens}
        given += response.output
        for item in asked:
            text = json.loads(item.arguments)["text"]
            calls.append(text)
            given.append(
                {"type": "function_call_output", "call_id": item.call_id, "output": repeat(text)}
            )
    raise RuntimeError("the loop did not end")


LOOPS = {"agents": agents_loop, "langchain": langchain_loop, "openai": openai_loop}


async def reported(client, request, turn):
    async with turn:
        try:
            return await LOOPS[client](request, request["responses"])
        except Exception:
            return {"broke": traceback.format_exc()}


async def main():
    asked = json.load(sys.stdin)
    turn = asyncio.Semaphore(3)
    reports = await asyncio.gather(*(reported(asked["client"], one, turn) for one in asked["requests"]))
    for report in reports:
        print(json.dumps(report))


asyncio.run(main())
