// LB_NODE_HEADER: answers and refusals to a caller that is known name the node of its account, and no others do.

import { describe, expect, test } from "bun:test";
import { asking, charges, fresh, MODEL } from "./harness.ts";
import { streamChat } from "./streaming.ts";
import { prepared, useBench } from "./use-bench.ts";

const NODE = "x-arbor-node";

describe("with the setting", () => {
  const bench = useBench({ settings: { LB_NODE_HEADER: "1", NODE_NAME: "gw-1", SSE_KEEPALIVE_MS: "1000" } });
  const account = prepared(async () => bench.subaccount(await bench.owner()));
  const messages = prepared(async () => bench.subaccount(await bench.owner({ style: "messages" })));

  test("a whole answer, a stream and one whose head goes out early name the node", async () => {
    const whole = await bench.chat(account.key, "[[output=1]]");
    const streamed = await streamChat(bench, account.key, "[[output=2]]");
    const early = await streamChat(bench, account.key, "[[output=2 first_ms=1300]]");
    expect([whole.status, whole.headers.get(NODE)]).toEqual([200, "gw-1"]);
    expect([streamed.done, streamed.headers.get(NODE)]).toEqual([true, "gw-1"]);
    expect([early.done, early.headers.get(NODE)]).toEqual([true, "gw-1"]);
    expect(early.headers.get("x-arbor-attempts")).toBeNull();
    const body = { ...asking("[[output=1]]"), max_tokens: 5 };
    const headers = { "x-api-key": messages.key };
    const other = await bench.call(null, "POST", "/v1/messages", body, { headers });
    expect([other.status, other.headers.get(NODE)]).toEqual([200, "gw-1"]);
  });

  test("so does an answer that is given again, with one charge", async () => {
    const { key } = await bench.subaccount(await bench.owner());
    const headers = { "idempotency-key": fresh() };
    const first = await bench.chat(key, "[[output=3]]", {}, { headers });
    const again = await bench.chat(key, "[[output=3]]", {}, { headers });
    expect([again.status, again.text, again.headers.get(NODE)]).toEqual([200, first.text, "gw-1"]);
    expect(charges(await bench.ledger(key))).toHaveLength(1);
  });

  test("so do refusals of a caller that is known; an unknown one learns nothing", async () => {
    const unknownModel = await bench.chat(account.key, "", { model: `unknown-${fresh()}` });
    const noJson = await bench.call(account.key, "POST", "/v1/chat/completions", "{");
    const failed = await bench.chat(account.key, "[[fault=400]]");
    expect([unknownModel.status, noJson.status, failed.status]).toEqual([404, 400, 400]);
    for (const answer of [unknownModel, noJson, failed]) expect(answer.headers.get(NODE)).toBe("gw-1");
    for (const key of [null, "sk-of-nobody-0123456789"]) {
      const answer = await bench.call(key, "POST", "/v1/chat/completions", asking(""));
      expect([answer.status, answer.headers.get(NODE)]).toEqual([401, null]);
    }
  });
});

describe("a stored response", () => {
  const bench = useBench({ settings: { LB_NODE_HEADER: "1", NODE_NAME: "gw-1" } });

  test("names the node, and so does the refusal of one that is not known", async () => {
    const { key } = await bench.subaccount(await bench.owner());
    const made = await bench.call(key, "POST", "/v1/responses", { model: MODEL, input: "[[output=1]]" });
    expect([made.status, made.headers.get(NODE)]).toEqual([200, "gw-1"]);
    const read = await bench.call(key, "GET", `/v1/responses/${made.body.id}`);
    expect([read.status, read.headers.get(NODE)]).toEqual([200, "gw-1"]);
    const unknown = await bench.call(key, "GET", "/v1/responses/resp_unknown");
    expect([unknown.status, unknown.headers.get(NODE)]).toEqual([404, "gw-1"]);
  });
});

describe("without the setting", () => {
  const bench = useBench();

  test("no answer names a node", async () => {
    const { key } = await bench.subaccount(await bench.owner());
    for (const said of ["[[output=1]]", "[[fault=400]]"]) {
      expect((await bench.chat(key, said)).headers.has(NODE)).toBe(false);
    }
  });
});
