import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const baseURL = "http://127.0.0.1:8080/v1";
const arborgate = createOpenAI({ baseURL, apiKey: process.env.ARBORGATE_API_KEY! });

const { text } = await generateText({
  model: arborgate("gpt-5.5"),
  prompt: process.argv[2]!,
  providerOptions: { openai: { store: false } },
});
console.log(text);
