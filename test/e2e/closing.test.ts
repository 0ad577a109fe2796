// An account that is deleted while requests run: the whole subtree is nobody's at once, what runs has 30 s to end by
// itself and is then cut and charged for what was delivered, and every dollar is somewhere afterwards.

import { describe, expect, test } from "bun:test";
import { type Account, type Answer, asking, type Json, MODEL, nano, until } from "./harness.ts";
import { readStream, type Streamed } from "./streaming.ts";
import { passTimers } from "./timers.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());

interface Reading {
  /** What has come so far. */
  text(): string;
  readonly end: Promise<Streamed>;
}

function stream(user: Account, said: string): Reading {
  let text = "";
  const end = (async () => {
    const response = await fetch(`${bench.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}` },
      body: JSON.stringify({ ...asking(said), stream: true, max_tokens: 2_000 }),
    });
    for await (const chunk of response.body!) text += Buffer.from(chunk);
    return readStream(response.status, response.headers, text);
  })();
  return { text: () => text, end };
}

const content = (reading: Reading) => until("content has come", () => reading.text().includes('"content":"'));

const remove = (account: Account, query = "", by: Account = owner): Promise<Answer> =>
  bench.call(by.key, "DELETE", `/x-users/${account.id}${query}`);

/** The deletion is durable, and the account above it shows it. */
async function closed(account: Account): Promise<void> {
  const sees = () => bench.call(owner.key, "GET", `/x-users/${account.id}`);
  await until("the account is gone for its parent", async () => (await sees()).status === 404);
}

async function outcomeFor({ key }: Account, method = "POST", path = "/v1/chat/completions"): Promise<string> {
  const answer = await bench.call(key, method, path, method === "POST" ? asking("hello") : undefined);
  return `${answer.status} ${answer.body?.error?.code ?? ""}`.trim();
}

/** Lines of an account that may be gone, oldest first. */
async function linesOf(account: Account): Promise<Json[]> {
  const answer = await bench.call(owner.key, "GET", `/x-ledger?user=${account.id}&size=100`);
  if (answer.status !== 200) throw new Error(`x-ledger: ${answer.status} ${answer.text}`);
  return answer.body.lines.toReversed();
}

const typesOf = async (account: Account) => (await linesOf(account)).map(({ type }) => type);

describe("while a subtree closes", () => {
  test("everybody in it is nobody at once, on every endpoint of the gateway; who is beside it is not", async () => {
    const top = await bench.subaccount(owner);
    const middle = await bench.subaccount(top, { CreditGranted: 5 });
    const deep = await bench.subaccount(middle, { CreditGranted: 2 });
    const beside = await bench.subaccount(owner);
    for (const one of [top, middle, deep]) expect(await outcomeFor(one)).toBe("200");
    const running = stream(deep, "[[output=60 chunk_ms=20]]");
    await content(running);
    const deleted = remove(top, "?recursive=true");
    await closed(top);
    for (const one of [top, middle, deep]) {
      expect(await outcomeFor(one)).toBe("401 invalid_api_key");
      expect(await outcomeFor(one, "GET", "/v1/models")).toBe("401 invalid_api_key");
    }
    expect(await outcomeFor(beside)).toBe("200");
    // What runs ends as it would have.
    const streamed = await running.end;
    expect([streamed.done, streamed.error]).toEqual([true, undefined]);
    expect((await deleted).status).toBe(200);
    expect(await typesOf(deep)).toEqual(["transfer_in", "charge", "charge", "delete_fee", "refund"]);
  });

  test("a repeat with an Idempotency-Key gets no answer of before", async () => {
    const top = await bench.subaccount(owner);
    const user = await bench.subaccount(top, { CreditGranted: 2 });
    const headers = { "idempotency-key": "once" };
    expect((await bench.chat(user.key, "hello", {}, { headers })).status).toBe(200);
    expect((await bench.chat(user.key, "hello", {}, { headers })).status).toBe(200);
    const running = stream(user, "[[output=30 chunk_ms=20]]");
    await content(running);
    const deleted = remove(top, "?recursive=true");
    await closed(top);
    const repeat = await bench.chat(user.key, "hello", {}, { headers });
    expect([repeat.status, repeat.body.error.code]).toEqual([401, "invalid_api_key"]);
    await running.end;
    expect((await deleted).status).toBe(200);
  });
});

describe("a request that still runs 30 s after its account was deleted", () => {
  test("as a stream is cut with an error event, and charged for what was delivered", async () => {
    const user = await bench.subaccount(owner);
    const before = nano(await bench.balance(owner.key));
    const running = stream(user, "[[output=1500 chunk_ms=20]]");
    await content(running);
    const deleted = remove(user);
    await closed(user);
    expect(running.text()).not.toContain("invalid_api_key");
    passTimers(31_000);
    const streamed = await running.end;
    expect([streamed.done, streamed.error?.code]).toEqual([false, "invalid_api_key"]);
    await until("the provider is alone", () => bench.provider.inFlight() === 0);

    const { body, status } = await deleted;
    expect(status).toBe(200);
    const lines = await linesOf(user);
    expect(lines.map(({ type }) => type)).toEqual(["transfer_in", "charge", "delete_fee", "refund"]);
    const [, charge] = lines;
    expect(charge).toMatchObject({ basis: "partial", model: MODEL });
    const words = streamed.said.split(" ").filter((word) => word !== "").length;
    expect(charge.completion_tokens).toBeWithin(Math.floor(words * 0.5), words * 3);
    expect(nano(body.User.RefundedBalance)).toBe(nano(10) - nano(0.2) + nano(charge.amount));
    expect(nano(await bench.balance(owner.key))).toBe(before + nano(body.User.RefundedBalance));
  });

  test("as a whole answer that never came costs nothing", async () => {
    const user = await bench.subaccount(owner);
    const running = bench.chat(user.key, "half [[output=5 fault=stall]]");
    await until("the provider is asked", () => bench.provider.inFlight() === 1);
    const deleted = remove(user);
    await closed(user);
    passTimers(31_000);
    const answer = await running;
    expect([answer.status, answer.body.error.code]).toEqual([401, "invalid_api_key"]);
    expect((await deleted).body.User).toMatchObject({ RefundedBalance: 9.8, TransactionFee: 0.2 });
    expect(await typesOf(user)).toEqual(["transfer_in", "delete_fee", "refund"]);
  });

  test("blames no key", async () => {
    const conf = await bench.call(owner.key, "GET", "/x-conf");
    expect(conf.body.SleepingKeys).toEqual([]);
    expect(await outcomeFor(await bench.subaccount(owner))).toBe("200");
  });
});

describe("what an ancestor changes", () => {
  const change = async (by: Account, of: Account, body: object) => {
    const answer = await bench.call(by.key, "PUT", `/x-users/${of.id}`, body);
    expect(answer.status).toBe(200);
  };

  test.each([
    ["AllowModels", { AllowModels: "other-*" }, "403 model_not_allowed"],
    ["AllowLevels", { AllowLevels: "9" }, "403 level_not_allowed"],
    ["Resources", { Resources: "/v1/embeddings" }, "403 path_not_allowed"],
  ])("is in force for everybody below with the answer: %s", async (_field, body, refused) => {
    const top = await bench.subaccount(owner);
    const user = await bench.subaccount(top, { CreditGranted: 2 });
    expect(await outcomeFor(user)).toBe("200");
    await change(owner, top, body);
    expect(await outcomeFor(user)).toBe(refused);
  });

  test("of its Rates costs everybody below more from the next request on", async () => {
    const top = await bench.subaccount(owner);
    const user = await bench.subaccount(top, { CreditGranted: 2 });
    const costOf = async () => nano((await bench.chat(user.key, "hello")).headers.get("x-arbor-cost")!);
    const before = await costOf();
    await change(owner, top, { Rates: 3 });
    expect(await costOf()).toBe(3 * before);
  });

  test("of the Owner's RESOURCES closes the path to its whole tree", async () => {
    const other = await bench.owner();
    const user = await bench.subaccount(await bench.subaccount(other), { CreditGranted: 2 });
    expect(await outcomeFor(user)).toBe("200");
    const resources = (paths: string) => bench.call(other.key, "PUT", "/x-config", { RESOURCES: paths });
    expect((await resources("/v1/models")).status).toBe(200);
    for (const one of [other, user]) expect(await outcomeFor(one)).toBe("403 path_not_allowed");
    expect(await outcomeFor(await bench.subaccount(owner))).toBe("200");
    expect((await resources("/v1/*")).status).toBe(200);
    expect(await outcomeFor(user)).toBe("200");
  });
});
