// How long a hostile body holds up everybody else: the longest step of the service's event loop while it is read and answered,
// the best of three, beside the longest step of a bare loop in the same seconds.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchAccount, NewOwner } from "./accounts.ts";
import { WrongResult } from "./books.ts";
import { largestConfiguration } from "./largest-configuration.ts";
import type { Measure, Row } from "./measure.ts";
import { start } from "./process.ts";
import { onStage, type Stage } from "./stage.ts";

const MB = 1024 * 1024;
const STEP_MS_MAX = 50;
const TRIES = 3;
/** What was left by the last body, such as memory to be collected, must not count for the next. */
const SETTLE_MS = 300;

/** What is sent, and to which provider; see the answers of hostile-upstream.ts. */
interface Hostile {
  readonly what: string;
  readonly answer: string;
  readonly keys: "chat" | "messages";
  readonly path: string;
  readonly body: () => string;
  readonly statuses: readonly number[];
}

const CHAT = "/v1/chat/completions";
const SAID = { model: "gpt-4o-mini", max_tokens: 16, messages: [{ role: "user", content: "a" }] };
const many = <T>(length: number, one: (i: number) => T): T[] => Array.from({ length }, (_, i) => one(i));
const saying = (content: unknown, more: object = {}): string =>
  JSON.stringify({ ...SAID, messages: [{ role: "user", content }], ...more });
const beside = (field: string): string => `${JSON.stringify(SAID).slice(0, -1)},${field}}`;
const tool = (i: number) => ({
  type: "function",
  function: { name: `tool_${i}`, description: "does", parameters: { type: "object", properties: {} } },
});
const TOOLS = () => saying("a", { tools: many(100_000, tool) });
const MESSAGES = () =>
  JSON.stringify({
    ...SAID,
    messages: many(100_001, (i) => ({ role: i % 2 ? "assistant" : "user", content: `m ${i}` })),
  });

const asked = (what: string, body: () => string, more: Partial<Hostile> = {}): Hostile => ({
  ...{ what, answer: "plain", keys: "chat", path: CHAT, body, statuses: [200] },
  ...more,
});
const translated = { keys: "messages", answer: "message" } as const;
const answered = (what: string, answer: string, more: object = {}): Hostile =>
  asked(what, () => saying("a", more), { answer });

const REQUESTS: readonly Hostile[] = [
  asked("64 MB of text in one message", () => saying("word ".repeat(12.7 * MB))),
  asked("20 MB of backslashes", () => saying("\\".repeat(10 * MB))),
  asked("100,000 tools", TOOLS),
  asked("100,000 messages", MESSAGES),
  asked("3 million fields", () =>
    beside(`"x":{${many(3_000_000, (i) => `"${i.toString(36)}":1`).join(",")}}`),
  ),
  asked(
    "56 MB of lists, 490 deep",
    () => beside(`"x":[${many(60_000, () => "[".repeat(490) + "]".repeat(490)).join(",")}]`),
    { statuses: [400] },
  ),
  asked("an image of 20 MB", () =>
    saying([
      { type: "image_url", image_url: { url: `data:image/png;base64,${"iVBORw0K".repeat((20 * MB) / 8)}` } },
    ]),
  ),
  asked("250 KB of small lists", () => beside(`"x":[${"[],".repeat(85_000)}[]]`)),
  asked("250 KB of fields", () => beside(many(20_000, (i) => `"k${i.toString(36)}":1`).join(","))),
  asked("64 MB of text, translated", () => saying("word ".repeat(12.7 * MB)), translated),
  asked("100,000 tools, translated", TOOLS, translated),
  asked("100,000 messages, translated", MESSAGES, translated),
];

const TEXT_4_MB = "a=b,".repeat(MB - 100);

/** Bodies outside the gateway, and quotes. */
const MANAGEMENT: readonly (Pick<Hostile, "what" | "path" | "body" | "statuses"> & {
  readonly method: string;
})[] = [
  {
    what: "putting the largest configuration",
    method: "PUT",
    path: "/x-config",
    body: () => JSON.stringify(largestConfiguration()),
    statuses: [200],
  },
  {
    what: "putting a map of 4 MB",
    method: "PUT",
    path: "/x-config",
    body: () => JSON.stringify({ MODEL_MAPPER: TEXT_4_MB }),
    statuses: [400],
  },
  {
    what: "putting 300,000 fields",
    method: "PUT",
    path: "/x-config",
    body: () => `{${many(300_000, (i) => `"k${i}":1`).join(",")}}`,
    statuses: [400],
  },
  {
    what: "a batch of 4 MB",
    method: "POST",
    path: "/x-conf",
    body: () => JSON.stringify({ ModelMapper: TEXT_4_MB }),
    statuses: [400],
  },
  {
    what: "a quote of 4 MB",
    method: "POST",
    path: "/v1/quote",
    body: () =>
      JSON.stringify({ path: CHAT, body: { ...SAID, messages: [{ role: "user", content: TEXT_4_MB }] } }),
    statuses: [200],
  },
];

const STREAM = { stream: true };
const ANSWERS: readonly Hostile[] = [
  answered("an answer of 60 MB of text", "whole-text"),
  answered("an answer of 900,000 lists", "whole-lists"),
  { ...answered("an answer of 30 MB, translated", "whole-message"), keys: "messages" },
  answered("an event of 10 MB of text", "event-text", STREAM),
  answered("an event of 390,000 lists", "event-lists", STREAM),
  // More than are read: the attempt fails.
  { ...answered("an event of 5 million lists", "event-flood", STREAM), statuses: [502, 503] },
  answered("200,000 events at once", "events-many", STREAM),
  answered("a million tiny events at once", "events-tiny", STREAM),
];

export const hostile: Measure = {
  name: "hostile",
  about: "the longest step of the event loop while hostile bodies are read and answered",
  async run(quick) {
    const directory = mkdtempSync(join(tmpdir(), "arborgate-probe-"));
    const probes = { service: join(directory, "service"), bare: join(directory, "bare") };
    const options = {
      flags: ["--preload", join(import.meta.dirname, "step-probe.ts")],
      env: { STEP_PROBE: probes.service },
    };
    const bare = await start([join(import.meta.dirname, "step-probe.ts")], { STEP_PROBE: probes.bare });
    try {
      return { rows: await onStage(options, (stage) => measureAll(stage, probes, quick)), notes: [] };
    } finally {
      await bare.stop();
      rmSync(directory, { recursive: true });
    }
  },
};

type Probes = Readonly<Record<"service" | "bare", string>>;

async function measureAll(stage: Stage, probes: Probes, quick: boolean): Promise<Row[]> {
  const upstream = await start([join(import.meta.dirname, "hostile-upstream.ts")]);
  const rows: Row[] = [];
  const owners = new Map<string, BenchAccount>();
  const accountFor = async ({ answer, keys }: Hostile): Promise<BenchAccount> => {
    const name = `${keys}-${answer}`;
    const owner: NewOwner = {
      name,
      style: keys,
      secrets: [`sk-provider-${answer}-0123456789`],
      accounts: 1,
      provider: upstream.url,
    };
    const account = owners.get(name) ?? (await stage.admin.createOwner(owner))[0]!;
    owners.set(name, account);
    return account;
  };
  try {
    for (const one of [...REQUESTS, ...ANSWERS]) {
      const { key } = await accountFor(one);
      const body = Buffer.from(one.body());
      const send = { key, method: "POST", path: one.path, body, statuses: one.statuses };
      rows.push(await measureOne(stage, probes, one.what, send, quick));
    }
    const configured = await stage.admin.createOwnerWithKey({
      ...{
        name: "configured",
        secrets: ["sk-provider-plain-0123456789"],
        accounts: 1,
        provider: upstream.url,
      },
      configuration: largestConfiguration(),
    });
    for (const path of ["/x-config", "/x-conf", "/dashboard/models", "/v1/models"]) {
      const send = { key: configured.key, method: "GET", path, body: null, statuses: [200] };
      rows.push(await measureOne(stage, probes, `${path} of the largest configuration`, send, quick));
    }
    for (const { what, path, method, body, statuses } of MANAGEMENT) {
      const send = { key: configured.key, method, path, body: Buffer.from(body()), statuses };
      rows.push(await measureOne(stage, probes, what, send, quick));
    }
    return rows;
  } finally {
    await upstream.stop();
  }
}

interface Send {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer | null;
  readonly statuses: readonly number[];
}

async function measureOne(
  stage: Stage,
  probes: Probes,
  what: string,
  send: Send,
  quick: boolean,
): Promise<Row> {
  const steps: number[] = [];
  const bare: number[] = [];
  let tookMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < (quick ? 1 : TRIES); i++) {
    await Bun.sleep(SETTLE_MS);
    await Promise.all([longest(probes.service), longest(probes.bare)]);
    const beganAt = performance.now();
    const response = await fetch(stage.service.url + send.path, {
      method: send.method,
      headers: { authorization: `Bearer ${send.key}`, "content-type": "application/json" },
      body: send.body as BodyInit | null,
    });
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
    tookMs = Math.min(tookMs, performance.now() - beganAt);
    if (!send.statuses.includes(response.status))
      throw new WrongResult(`${what}: ${response.status}, ${bytes} bytes`);
    steps.push(await longest(probes.service));
    bare.push(await longest(probes.bare));
  }
  const best = Math.min(...steps);
  console.error(
    `  ${what}: ${steps.map((ms) => ms.toFixed(0)).join(", ")} ms (${tookMs.toFixed(0)} ms in all)`,
  );
  return {
    what: `Longest step: ${what}`,
    service: `${best.toFixed(0)} ms`,
    passThrough: `${Math.min(...bare).toFixed(0)} ms (bare loop)`,
    result: `${tookMs.toFixed(0)} ms in all`,
    target: `≤ ${STEP_MS_MAX} ms`,
  };
}

/** Returns the longest step in ms since the last call. */
const longest = async (unix: string): Promise<number> =>
  (await fetch("http://step-probe/", { unix })).json() as Promise<number>;
