import os
import sys

from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="gpt-5.5",
    api_key=os.environ["ARBORGATE_API_KEY"],
    base_url="http://127.0.0.1:8080/v1",
    use_responses_api=True,
    stream_usage=True,
)

print(model.invoke(sys.argv[1]).text)
