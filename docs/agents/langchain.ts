import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({
  model: "gpt-5.5",
  apiKey: process.env.ARBORGATE_API_KEY!,
  configuration: { baseURL: "http://127.0.0.1:8080/v1" },
  useResponsesApi: true,
});

console.log((await model.invoke(process.argv[2]!)).text);
