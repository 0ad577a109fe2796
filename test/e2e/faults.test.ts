// Every fault of the stand-in once through the service, whole and streamed, and a refusal of each kind: what the client sees,
// what it costs, and that the hold is free again. Each on one key of its own that nobody stands in for. Every refusal, and what
// becomes of keys: failover-signals.test.ts.

import { describe, expect, test } from "bun:test";
import { FAULTS } from "../provider/faults.ts";
import { charges, type Json, nano, until } from "./harness.ts";
import { createAccounts, type TestAccounts } from "./harness-keys.ts";
import { readStream, type Streamed } from "./streaming.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench({
  settings: { UPSTREAM_TIMEOUT_MS: "6000", UPSTREAM_FIRST_MS: "2500", UPSTREAM_IDLE_MS: "2500" },
});

/** What a client sees: a whole good answer, a cut stream, or an error body with status and code. */
type Seen = "good" | "cut" | readonly [status: number, code: string];

const REJECTED = (status: number, code: string) => [status, code] as const;
const FAILED = [502, "upstream_failed"] as const;
const TIMEOUT = [504, "upstream_timeout"] as const;
const NO_KEY = [503, "no_available_key"] as const;
const LIMITED = [429, "upstream_rate_limited"] as const;

/** fault -> whole, streamed. contract sections 2 and 4. */
const SEEN: Readonly<Record<string, readonly [whole: Seen, streamed: Seen]>> = {
  reset: [FAILED, FAILED],
  "reset how=fin": [FAILED, FAILED],
  hang: [TIMEOUT, TIMEOUT],
  cut: [FAILED, "cut"],
  "cut how=fin": [FAILED, "cut"],
  "cut how=clean": [FAILED, "cut"],
  "cut after=0": [FAILED, FAILED],
  "cut after=1": [FAILED, FAILED],
  stall: [TIMEOUT, "cut"],
  "stall after=1": [TIMEOUT, TIMEOUT],
  empty: [FAILED, FAILED],
  no_done: ["good", "good"],
  error_event: [FAILED, "cut"],
  "error_event after=1": [FAILED, FAILED],
  garbage: [FAILED, "cut"],
  "garbage after=0": [FAILED, FAILED],
  huge: ["good", "good"],
  comments: ["good", "good"],
  azure: ["good", "good"],
  no_delta: ["good", "good"],
  crlf: ["good", "good"],
  split: ["good", "good"],
  split_utf8: ["good", "good"],
  join: ["good", "good"],
  unstreamed: ["good", REJECTED(400, "invalid_parameter")],

  "200.error": [FAILED, FAILED],
  "200.code": [NO_KEY, NO_KEY],
  "302": [FAILED, FAILED],
  "400": [REJECTED(400, "invalid_type"), REJECTED(400, "invalid_type")],
  "401": [FAILED, FAILED],
  "402": [NO_KEY, NO_KEY],
  "403": [FAILED, FAILED],
  "403.account": [FAILED, FAILED],
  "404": [REJECTED(404, "model_not_found"), REJECTED(404, "model_not_found")],
  "408": [TIMEOUT, TIMEOUT],
  "409": [REJECTED(409, "conflict"), REJECTED(409, "conflict")],
  "413": [REJECTED(413, "request_too_large"), REJECTED(413, "request_too_large")],
  "422": [REJECTED(422, "upstream_rejected"), REJECTED(422, "upstream_rejected")],
  "429": [LIMITED, LIMITED],
  "429.too_big": [LIMITED, LIMITED],
  "429.quota": [NO_KEY, NO_KEY],
  "500": [FAILED, FAILED],
  "503": [NO_KEY, NO_KEY],
};

test("the table knows every fault of the stand-in", () => {
  const named = new Set(Object.keys(SEEN).map((name) => name.split(" ")[0]));
  expect(Object.keys(FAULTS).filter((name) => !named.has(name))).toEqual([]);
});

async function ask(
  { user }: TestAccounts,
  fault: string,
  stream: boolean,
): Promise<Streamed & { body: Json }> {
  const answer = await bench.chat(
    user.key,
    `say it [[output=12 fault=${fault}]]`,
    stream ? { stream, max_tokens: 50 } : { max_tokens: 50 },
    { headers: { "x-arbor-cost": "stream" } },
  );
  const read = readStream(answer.status, answer.headers, answer.text);
  return { ...read, body: answer.body };
}

const money = async ({ user }: TestAccounts) => {
  const lines = await bench.ledger(user.key);
  return { balance: nano(await bench.balance(user.key)), charges: charges(lines) };
};

const CASES = Object.entries(SEEN).flatMap(([fault, [whole, streamed]]) => [
  { fault, how: "whole", stream: false, seen: whole },
  { fault, how: "streamed", stream: true, seen: streamed },
]);

test.each(CASES)("$fault, $how: $seen", async ({ fault, stream, seen }) => {
  const accounts = await createAccounts(bench, null);
  const before = await money(accounts);
  const answer = await ask(accounts, fault, stream);
  const after = await money(accounts);
  const line = after.charges.at(-1);
  expect(answer.headers.get("x-request-id")).toBeString();
  expect(answer.text).not.toContain("org-standin");
  expect(answer.text).not.toContain("openai.com");

  if (seen === "good") {
    expect(answer.status).toBe(200);
    expect(stream ? answer.done : answer.body.choices.length === 1).toBe(true);
    expect(after.charges.length).toBe(before.charges.length + 1);
    const cost = stream ? answer.cost! : answer.headers.get("x-arbor-cost")!;
    expect(nano(cost)).toBe(before.balance - after.balance);
    expect(line.basis).toBe("provider");
  } else if (seen === "cut") {
    expect(answer.status).toBe(200);
    expect(answer.done).toBe(false);
    expect(answer.error).toMatchObject({ type: "upstream_error", code: expect.any(String) });
    expect(answer.events.at(-1)).toEqual({ error: answer.error });
    expect(after.charges.length).toBe(before.charges.length + 1);
    // Two words were delivered before the break.
    expect(line).toMatchObject({ basis: "partial", completion_tokens: 2 });
    expect(before.balance - after.balance).toBe(line.prompt_tokens * 1_000 + 2 * 2_000);
    expect(line.prompt_tokens).toBeGreaterThan(0);
  } else {
    const [status, code] = seen;
    expect([answer.status, answer.body?.error?.code]).toEqual([status, code]);
    expect(Object.keys(answer.body)).toEqual(["error"]);
    // A provider's refusal of a field names it.
    const { param, ...others } = answer.body.error;
    expect(Object.keys(others).sort()).toEqual(["code", "message", "type"]);
    if (param !== undefined) expect([400, 422]).toContain(status);
    expect(answer.headers.get("content-type")).toStartWith("application/json");
    expect(answer.headers.has("x-arbor-cost")).toBe(false);
    expect(after).toEqual(before);
  }
  // Cancelling a hold is not waited for. To be admitted again the account needs a key that is well.
  await bench.level(accounts.owner, 1, 1);
  await until("the hold is free", () => bench.nothingHeld(accounts.user.key));
  await until("the provider is alone", () => bench.provider.inFlight() === 0);
});

describe("what a refusal says beside its code", () => {
  test("a rejection carries the provider's words, cleaned of organisations, keys and addresses", async () => {
    const { body } = await ask(await createAccounts(bench, null), "400.context", false);
    expect(body.error).toEqual({
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      type: "invalid_request_error",
      code: "context_length_exceeded",
      param: "messages",
    });
  });

  test("a limited provider's wait is answered: the seconds, a date, or milliseconds", async () => {
    for (const [retry, wait] of [
      ["retry=7", "7"],
      ["retry=date", "20"],
      ["retry_ms=1500", "2"],
    ] as const) {
      const answer = await ask(await createAccounts(bench, null), `429 ${retry}`, false);
      const seconds = Number(answer.headers.get("retry-after"));
      // What is left of it when the answer is written.
      expect(seconds).toBeWithin(Math.max(1, Number(wait) - 10), Number(wait) + 1);
      expect(answer.headers.has("x-should-retry")).toBe(false);
    }
  });

  test("a wait above 30 s, and a request too big for the provider's TPM, say x-should-retry: false", async () => {
    const long = await ask(await createAccounts(bench, null), "429 retry=90", false);
    expect(Number(long.headers.get("retry-after"))).toBeWithin(80, 91);
    expect(long.headers.get("x-should-retry")).toBe("false");
    const big = await ask(await createAccounts(bench, null), "429.too_big", false);
    expect(big.headers.get("x-should-retry")).toBe("false");
  });
});
