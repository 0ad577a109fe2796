// The libraries that agents are written with, each through loops of tool calls, whole and streamed, at provider keys of each
// kind: the tool gets every call once, the provider gets every result, and the ledger has exactly what it generated.

import { beforeAll, describe, expect, test } from "bun:test";
import { charges, type Json, MODEL, nano } from "../harness.ts";
import { SETTINGS } from "../sdk/customers.ts";
import { useBench } from "../use-bench.ts";
import { usePython } from "../use-python.ts";
import { LANGCHAIN } from "./langchain.ts";
import {
  ARGUMENT,
  type LoopClient,
  type LoopReport,
  type LoopScript,
  repeat,
  SCRIPTS,
  TEXT,
  TOOL,
} from "./loop.ts";
import { OPENAI } from "./openai.ts";
import { AGENTS_SDK } from "./openai-agents.ts";
import { type Customer, customerWith, type KeyKind, SERVED, worthOf } from "./provider-keys.ts";
import { pythonLoops } from "./python.ts";
import { VERCEL } from "./vercel.ts";

const python = await usePython("loops of tool calls in Python");

const CLIENTS: readonly LoopClient[] = [
  ...AGENTS_SDK,
  ...VERCEL,
  ...LANGCHAIN,
  ...OPENAI,
  ...(python === null ? [] : pythonLoops(python)),
];

interface Loop {
  readonly client: LoopClient;
  readonly kind: KeyKind;
  readonly stream: boolean;
  readonly script: LoopScript;
  customer?: Customer;
  report?: Json;
}

const LOOPS: readonly Loop[] = CLIENTS.flatMap((client) =>
  SERVED.filter(([speaks]) => speaks === client.speaks).flatMap(([, kind]) =>
    [false, true].flatMap((stream) => SCRIPTS.map((script): Loop => ({ client, kind, stream, script }))),
  ),
);

const bench = useBench({ settings: SETTINGS });
beforeAll(async () => {
  for (const loop of LOOPS) loop.customer = await customerWith(bench, loop.kind);
  for (const client of CLIENTS) {
    const loops = LOOPS.filter((one) => one.client === client);
    const reports = await client.run(
      loops.map(({ customer, stream, script }) => ({
        url: bench.url,
        key: customer!.user.key,
        model: MODEL,
        said: script.said,
        stream,
      })),
    );
    for (const [i, loop] of loops.entries()) loop.report = reports[i];
  }
}, 300_000);

const PATHS = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;

/** The ids of the calls that a chat provider gets back. */
const callIds = ({ messages }: Json): readonly unknown[] =>
  messages.flatMap(({ tool_calls: calls = [] }: Json) => calls.map(({ id }: Json) => id));

describe.each(
  LOOPS.map((loop) => [loop.client.name, loop.kind, loop.stream, loop.script.name, loop] as const),
)("%s, key for %s, stream: %p, %s", (_, kind, stream, __, loop) => {
  const { script } = loop;
  test("each call reaches the tool once, and the loop ends with the text", () => {
    expect(loop.report.broke).toBeUndefined();
    const { calls, text }: LoopReport = loop.report;
    expect([calls, text]).toEqual([Array(script.calls).fill(ARGUMENT), TEXT]);
  });

  test("the provider gets every result, in its own form", () => {
    const calls = loop.customer!.calls();
    expect(calls.map(({ status, path }) => [status, path])).toEqual(
      Array(script.requests).fill([200, PATHS[kind]]),
    );
    expect(calls.map(({ body }) => (body as Json).stream === true)).toEqual(
      Array(script.requests).fill(stream),
    );
    const results = JSON.stringify(calls.at(-1)!.body).split(repeat(ARGUMENT)).length - 1;
    expect(results).toBe(script.calls);
  });

  test("a chat provider gets the ids of its calls back", () => {
    if (kind !== "chat") return;
    const ids = callIds(loop.customer!.calls().at(-1)!.body as Json);
    const isKimi = script.said.includes("call_ids=kimi");
    expect(ids).toEqual(
      Array.from({ length: script.calls }, (_, nth) =>
        isKimi ? `functions.${TOOL}:${nth}` : `call_0${nth}standin`,
      ),
    );
  });

  test("the ledger has what the provider generated, and the program received the same", async () => {
    const lines = charges(await bench.ledger(loop.customer!.user.key));
    const calls = loop.customer!.calls();
    expect(lines.map(({ basis }) => basis)).toEqual(Array(script.requests).fill("provider"));
    expect(lines.map(({ amount }) => -nano(amount))).toEqual(calls.map(worthOf));
    const sums = ["prompt_tokens", "completion_tokens"].map((field) =>
      lines.reduce((sum, line) => sum + line[field], 0),
    );
    if (loop.report.tokens !== null) expect(loop.report.tokens).toEqual(sums);
  });
});
