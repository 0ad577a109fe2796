// The loops of the libraries for Python: one process for each library, which is slow to start, with all its loops.

import { runScript } from "../python.ts";
import { type LoopClient, type LoopReport, REQUESTS_MAX, type Speaks } from "./loop.ts";

function inPython(path: string, name: string, library: string, speaks: Speaks): LoopClient {
  return {
    name,
    speaks,
    async run(loops) {
      const requests = loops.map((one) => ({
        ...one,
        responses: speaks === "responses",
        requests_max: REQUESTS_MAX,
      }));
      const reports = await runScript(path, "../agents/python/loops.py", { client: library, requests });
      return reports as LoopReport[];
    },
  };
}

/** `path`: of the interpreter. */
export const pythonLoops = (path: string): readonly LoopClient[] => [
  inPython(path, "agents in Python", "agents", "responses"),
  inPython(path, "agents in Python, chat", "agents", "chat"),
  inPython(path, "langchain in Python", "langchain", "responses"),
  inPython(path, "langchain in Python, chat", "langchain", "chat"),
  inPython(path, "openai in Python", "openai", "responses"),
];
