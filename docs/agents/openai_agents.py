import os
import sys

from agents import Agent, Runner, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

client = AsyncOpenAI(base_url="http://127.0.0.1:8080/v1", api_key=os.environ["ARBORGATE_API_KEY"])
set_default_openai_client(client, use_for_tracing=False)
set_tracing_disabled(True)

agent = Agent(name="helper", instructions="Be brief.", model="gpt-5.5")
print(Runner.run_sync(agent, sys.argv[1]).final_output)
