// The events of streamed responses, as `responses.stream` of the maker's SDKs shows them: every kind that an answer can have,
// in its order, numbered from 0 without a gap, and adding up to the response that the SDK returns in the end.

import { beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { charges, type Json, MODEL, nano } from "../harness.ts";
import { runScript } from "../python.ts";
import { SETTINGS } from "../sdk/customers.ts";
import { useBench } from "../use-bench.ts";
import { usePython } from "../use-python.ts";
import { PARAMETERS, TOOL } from "./loop.ts";
import { type Customer, customerWith, type KeyKind, SERVED, worthOf } from "./provider-keys.ts";

interface Case {
  readonly description: string;
  readonly said: string;
  readonly body?: object;
  /** The kinds of events between the first two and the last, without `response.`; repeats in a row count once. */
  readonly events: string;
  readonly last: "completed" | "incomplete" | "failed";
  /** What the SDK returns has these fields. */
  readonly final: object;
  /** The basis of its charge; default: `provider`. */
  readonly basis?: "partial";
  /** The kinds of keys that can answer so; default: all. */
  readonly kinds?: readonly KeyKind[];
}

const TOOLS = { tools: [{ type: "function", name: TOOL, parameters: PARAMETERS, strict: true }] };
const TEXT =
  "output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done";
const CALL = "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done";
const SUMMARY =
  "output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done " +
  "reasoning_summary_part.done output_item.done";
const CUSTOM_CALL =
  "output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done";
const SEARCH =
  "output_item.added web_search_call.in_progress web_search_call.searching web_search_call.completed output_item.done";
const message = (text: string) => ({ type: "message", content: [{ type: "output_text", text }] });
const call = { type: "function_call", name: TOOL, arguments: '{"text":"go on"}' };

const CASES: readonly Case[] = [
  {
    description: "a text",
    said: "go on [[output=4]]",
    events: TEXT,
    last: "completed",
    final: { status: "completed", output: [message("go on time year")] },
  },
  {
    description: "two calls of a tool",
    said: "go on [[tool=2]]",
    body: TOOLS,
    events: `${CALL} ${CALL}`,
    last: "completed",
    final: { status: "completed", output: [call, call] },
  },
  {
    description: "a call of a custom tool",
    said: 'go on [[tool=1 arguments={"input":"begin"}]]',
    body: { tools: [{ type: "custom", name: TOOL }] },
    events: CUSTOM_CALL,
    last: "completed",
    final: { output: [{ type: "custom_tool_call", name: TOOL, input: "begin" }] },
  },
  {
    description: "thoughts, and a text",
    said: "go on [[think reasoning=3 output=5]]",
    body: { reasoning: { summary: "auto" } },
    events: `${SUMMARY} ${TEXT}`,
    last: "completed",
    final: { output: [{ type: "reasoning", summary: [{ type: "summary_text" }] }, message("go on")] },
  },
  {
    description: "thoughts, and a call",
    said: "go on [[think reasoning=3 tool=1]]",
    body: { reasoning: { summary: "auto" }, ...TOOLS },
    events: `${SUMMARY} ${CALL}`,
    last: "completed",
    final: { output: [{ type: "reasoning" }, call] },
  },
  {
    description: "a text that the limit ends",
    said: "go on [[output=50]]",
    body: { max_output_tokens: 16 },
    events: TEXT,
    last: "incomplete",
    final: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
  },
  {
    description: "a text that a filter ends",
    said: "go on [[output=4 finish=content_filter]]",
    events: TEXT,
    last: "incomplete",
    final: { status: "incomplete", incomplete_details: { reason: "content_filter" } },
    kinds: ["responses", "chat"],
  },
  {
    description: "a refusal",
    said: "go on [[output=2 finish=refusal]]",
    events:
      "output_item.added content_part.added refusal.delta refusal.done content_part.done output_item.done",
    last: "completed",
    final: { status: "completed", output: [{ content: [{ type: "refusal", refusal: "go on" }] }] },
    kinds: ["responses", "chat"],
  },
  {
    description: "a failure of the model",
    said: "go on [[output=2 finish=failed usage=always]]",
    events: TEXT,
    last: "failed",
    final: { status: "failed", error: { code: "server_error" } },
    kinds: ["responses"],
  },
  {
    description: "a text that an error of the provider cuts",
    said: "go on [[output=8 fault=error_event after=4]]",
    events: "output_item.added content_part.added output_text.delta",
    last: "failed",
    final: {
      status: "failed",
      error: { code: "server_error" },
      output: [{ type: "message", status: "incomplete" }],
    },
    basis: "partial",
    kinds: ["chat", "messages"],
  },
  {
    description: "a search of the web, and a text",
    said: "go on [[searches=1 output=2]]",
    body: { tools: [{ type: "web_search" }] },
    events: `${SEARCH} ${TEXT}`,
    last: "completed",
    final: { output: [{ type: "web_search_call", status: "completed" }, message("go on")] },
    kinds: ["responses"],
  },
];

interface Shown {
  readonly events: readonly (readonly [string, number])[];
  readonly final?: Json;
  readonly broke?: string;
}

interface Ask {
  readonly key: string;
  readonly body: Json;
}

type Client = (url: string, asked: readonly Ask[]) => Promise<readonly Shown[]>;

const inThisProcess: Client = (url, asked) =>
  Promise.all(
    asked.map(async ({ key, body }): Promise<Shown> => {
      const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1` });
      const stream = client.responses.stream(body);
      const events: [string, number][] = [];
      for await (const { type, sequence_number } of stream) events.push([type, sequence_number]);
      return { events, final: await stream.finalResponse() };
    }),
  );

const python = await usePython("events of responses in Python");
const inPython = (path: string): Client => {
  return (url, requests) =>
    runScript(path, "../agents/python/events.py", { url, requests }) as Promise<Json[]> as Promise<Shown[]>;
};

const CLIENTS: readonly (readonly [string, Client])[] = [
  ["openai", inThisProcess],
  ...(python === null ? [] : [["openai in Python", inPython(python)] as const]),
];

interface Run {
  readonly client: string;
  readonly kind: KeyKind;
  readonly asked: Case;
  customer?: Customer;
  shown?: Shown;
}

const RUNS = CLIENTS.flatMap(([client]) =>
  SERVED.filter(([speaks]) => speaks === "responses").flatMap(([, kind]) =>
    CASES.filter(({ kinds }) => kinds === undefined || kinds.includes(kind)).map(
      (asked): Run => ({ client, kind, asked }),
    ),
  ),
);

const bench = useBench({ settings: SETTINGS });
beforeAll(async () => {
  for (const run of RUNS) run.customer = await customerWith(bench, run.kind);
  for (const [name, client] of CLIENTS) {
    const runs = RUNS.filter((run) => run.client === name);
    const asks = runs.map(({ asked, customer }) => ({
      key: customer!.user.key,
      body: { model: MODEL, input: asked.said, ...asked.body },
    }));
    for (const [i, shown] of (await client(bench.url, asks)).entries()) runs[i]!.shown = shown;
  }
}, 120_000);

describe.each(RUNS.map((run) => [run.client, run.kind, run.asked.description, run] as const))(
  "%s, key for %s: %s",
  (_client, _kind, _description, run) => {
    test("every event comes, in its order and numbered", () => {
      expect(run.shown!.broke).toBeUndefined();
      const { events } = run.shown!;
      const kinds = events
        .map(([type]) => type.replace("response.", ""))
        .filter((kind, i, all) => kind !== all[i - 1]);
      const { asked } = run;
      expect(kinds).toEqual(["created", "in_progress", ...asked.events.split(" "), asked.last]);
      expect(events.map(([, number]) => number)).toEqual(events.map((_, i) => i));
    });

    test("they add up to the response", () => {
      expect(run.shown!.final).toMatchObject(run.asked.final);
    });

    test("its usage is what the provider generated and what is charged", async () => {
      const lines = charges(await bench.ledger(run.customer!.user.key));
      const [made, ...more] = run.customer!.calls();
      expect([lines.length, more]).toEqual([1, []]);
      expect(lines[0].basis).toBe(run.asked.basis ?? "provider");
      const { input_tokens, output_tokens } = run.shown!.final.usage;
      if (run.asked.basis === "partial") {
        // What was cut is counted, not reported.
        expect(output_tokens).toBeGreaterThan(0);
        expect(-nano(lines[0].amount)).toBeGreaterThan(0);
        return;
      }
      expect([input_tokens, output_tokens]).toEqual([made!.usage!.prompt, made!.usage!.completion]);
      expect(-nano(lines[0].amount)).toBe(worthOf(made!));
    });
  },
);
