import { Agent, run, setDefaultOpenAIClient, setTracingDisabled } from "@openai/agents";
import OpenAI from "openai";

const baseURL = "http://127.0.0.1:8080/v1";
setDefaultOpenAIClient(new OpenAI({ baseURL, apiKey: process.env.ARBORGATE_API_KEY! }));
setTracingDisabled(true);

const agent = new Agent({ name: "helper", instructions: "Be brief.", model: "gpt-5.5" });
const { finalOutput } = await run(agent, process.argv[2]!);
console.log(finalOutput);
