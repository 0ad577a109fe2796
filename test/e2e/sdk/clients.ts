// The clients of the table: SDKs that run in this process, and those of Python, a process for each SDK.

import type { ApiStyle } from "../../../src/gateway/codec/key-formats.ts";
import { runScript } from "../python.ts";
import { anthropic } from "./anthropic.ts";
import { plainFetch } from "./fetch.ts";
import { langchainChat, langchainMessages } from "./langchain.ts";
import { openai } from "./openai.ts";
import { type Client, type ClientName, type Perform, performed, type Script } from "./script.ts";
import { vercelChat, vercelMessages } from "./vercel.ts";

const here = (name: ClientName, style: ApiStyle, script: Script): Client => ({
  name,
  style,
  mode: "async",
  perform: (url, asked) => performed(script, url, asked),
});

export const HERE: readonly Client[] = [
  here("openai", "chat", openai),
  here("anthropic", "messages", anthropic),
  here("vercel, chat", "chat", vercelChat),
  here("vercel, messages", "messages", vercelMessages),
  here("langchain, chat", "chat", langchainChat),
  here("langchain, messages", "messages", langchainMessages),
  here("fetch", "chat", plainFetch),
];

/** One process for each SDK, which is slow to start, with its clients of both modes. */
function inPython(
  name: "openai in Python" | "anthropic in Python",
  style: ApiStyle,
  script: string,
  path: string,
): Client[] {
  const perform: Perform = (url, runs) => runScript(path, script, { url, runs });
  return [
    { name, style, mode: "sync", perform },
    { name: `${name}, async`, style, mode: "async", perform },
  ];
}

/** `path`: of the interpreter. */
export const pythonClients = (path: string): readonly Client[] => [
  ...inPython("openai in Python", "chat", "chat.py", path),
  ...inPython("anthropic in Python", "messages", "messages.py", path),
];
