// What the tests of failing keys share: asking in either style, how a key fares in one phrase, and which keys the
// provider was asked with. Nothing here asserts.

import type { ApiStyle } from "../../src/gateway/codec/key-formats.ts";
import type { Call } from "../provider/calls.ts";
import {
  type Account,
  asking,
  type Bench,
  type Json,
  jsonOf,
  MODEL,
  type Owner,
  type UpstreamKey,
  until,
} from "./harness.ts";

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body of a whole answer, or of an error before a stream began. */
  readonly body: Json;
  /** `200`; `429 upstream_rate_limited`; `cut upstream_failed`: a stream that ended with an error event. */
  readonly result: string;
  /** x-arbor-attempts. */
  readonly attempts: number;
  readonly model: string | null;
  readonly level: number;
}

const PATHS: Readonly<Record<ApiStyle, string>> = { chat: "/v1/chat/completions", messages: "/v1/messages" };
const CLOSINGS: Readonly<Record<ApiStyle, string>> = {
  chat: "data: [DONE]",
  messages: "event: message_stop",
};

/** Asks for 5 tokens of MODEL, unless `more` says otherwise. */
export async function ask(
  bench: Pick<Bench, "call">,
  user: Account,
  given: {
    said?: string;
    style?: ApiStyle;
    stream?: boolean;
    more?: object;
    headers?: Record<string, string>;
  } = {},
): Promise<Asked> {
  const { said = "say it [[output=5]]", style = "chat", stream = false, more = {}, headers = {} } = given;
  const body = { ...asking(said), max_tokens: 50, ...(stream ? { stream } : {}), ...more };
  const answer = await bench.call(user.key, "POST", PATHS[style], body, { headers });
  const { status, text } = answer;
  const whole = status === 200 && (!stream || text.includes(CLOSINGS[style]));
  const said_ = (error: Json): string => `${error?.code ?? error?.type}`;
  return {
    status,
    headers: answer.headers,
    text,
    body: answer.body,
    result: whole
      ? "200"
      : status === 200
        ? `cut ${said_(errorIn(text))}`
        : `${status} ${said_(answer.body?.error)}`,
    attempts: Number(answer.headers.get("x-arbor-attempts")),
    model: answer.headers.get("x-arbor-model"),
    level: Number(answer.headers.get("x-arbor-level")),
  };
}

const errorIn = (text: string): Json =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => jsonOf(line.slice("data: ".length))?.error)
    .find((error) => error);

/** How a key fares: `normal`, `waking`, `sleeping 5 min`, `resting 7 s`, `passed_over 10 min`. */
export async function fateOf(
  bench: Bench,
  owner: Account,
  key: UpstreamKey,
  { model = MODEL, style = "chat" }: { model?: string; style?: ApiStyle } = {},
): Promise<string> {
  const { body } = await bench.call(
    owner.key,
    "GET",
    `/dashboard/explain?model=${model}&path=${PATHS[style]}`,
  );
  const found = body.candidates.find((one: Json) => one.key_id === key.id);
  return found === undefined ? "not there" : found.state + waitOf(found.until, bench.now());
}

/** Seconds of a wait that may have gone by before a test looks. */
const GONE_BY_MAX_S = 20;

function isFate(found: string, fate: string): boolean {
  const [, state, seconds] = /^(\w+) (\d+) s$/.exec(fate) ?? [];
  if (seconds === undefined) return found === fate;
  const left = Number(new RegExp(`^${state} (\\d+) s$`).exec(found)?.[1]);
  return left <= Number(seconds) && left >= Number(seconds) - GONE_BY_MAX_S;
}

/** Waits until the key fares so; says how it fares when it does not. Reports are not waited for by requests. */
export async function fares(
  bench: Bench,
  owner: Account,
  key: UpstreamKey,
  fate: string,
  at: Parameters<typeof fateOf>[3] = {},
): Promise<void> {
  const isSo = async () => isFate(await fateOf(bench, owner, key, at), fate);
  await until(`key ${key.id} is ${fate}`, isSo).catch(async (error) => {
    throw new Error(`${error.message}: it is ${await fateOf(bench, owner, key, at)}`);
  });
}

function waitOf(until: string | undefined, now: number): string {
  if (until === undefined) return "";
  const seconds = Math.ceil((Date.parse(until) - now) / 1_000);
  return seconds < 60 ? ` ${seconds} s` : ` ${Math.ceil(seconds / 60)} min`;
}

/** An Owner, and an account below it. */
export interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
}

/** Creates an Owner with one provider key for each script, which the key follows, and an account below it. A key without a script works. */
export async function createAccounts(
  bench: Bench,
  ...scripts: readonly (string | null)[]
): Promise<TestAccounts> {
  const owner = await bench.owner({ keys: scripts.length });
  for (const [i, script] of scripts.entries()) bench.provider.behave(owner.secrets[i]!, script);
  return { owner, user: await bench.subaccount(owner) };
}

export interface Watch {
  /** The provider's calls since then, oldest first. */
  calls(): readonly Call[];
  /** With which keys they were made, by their place in the list: `1 2 2`; `?` for others. */
  order(...keys: readonly UpstreamKey[]): string;
}

export function watch(bench: Bench): Watch {
  const from = bench.provider.totals().calls;
  const calls = () => {
    const made = bench.provider.totals().calls - from;
    return made === 0 ? [] : bench.provider.calls().slice(-made);
  };
  return {
    calls,
    order(...keys) {
      const place = (call: Call) => keys.findIndex(({ secret }) => secret.endsWith(call.key)) + 1 || "?";
      return calls().map(place).join(" ");
    },
  };
}
