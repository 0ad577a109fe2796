// A client that goes while its charge waits for a store that is slow at the moment: it had everything but the last byte,
// so what it had is charged once, and nothing stays held.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { type Account, asking, charged, charges, type Json, nano, until } from "./harness.ts";
import { prepared, useProcessBench } from "./use-bench.ts";

const { bench, provider } = useProcessBench();
const owner = prepared(() => bench.accountFactory(provider.url).owner());

/** Locks the store against all writes. Returns what releases it. */
function lockStore(): () => void {
  const writer = new Database(bench.database);
  writer.run("PRAGMA busy_timeout = 2000");
  writer.run("BEGIN IMMEDIATE");
  return () => {
    writer.run("ROLLBACK");
    writer.close();
  };
}

interface Leaver {
  /** Has anything of the answer's content come? */
  readonly reading: () => boolean;
  /** Leaves, and says how it ended. */
  leave(): Promise<"answered" | "left">;
}

function asks(user: Account, said: string, stream: boolean): Leaver {
  const leaving = new AbortController();
  let text = "";
  const ended = (async () => {
    const response = await fetch(`${bench.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}` },
      body: JSON.stringify({ ...asking(said), max_tokens: 3, stream }),
      signal: leaving.signal,
    });
    for await (const chunk of response.body!) text += Buffer.from(chunk);
    return "answered" as const;
  })().catch(() => "left" as const);
  return {
    reading: () => text.includes('"content":"'),
    leave() {
      leaving.abort();
      return ended;
    },
  };
}

/** The charges after everything has come to rest. */
async function settled(user: Account): Promise<Json[]> {
  await until("the provider is alone", () => provider.inFlight() === 0);
  await until("nothing is held", () => bench.nothingHeld(user.key));
  const lines = await bench.ledger(user.key);
  expect(nano(await bench.balance(user.key))).toBe(nano(10) - charged(lines));
  // The last one is the proof that nothing is held.
  return charges(lines).slice(0, -1);
}

test("a stream of which content was delivered is charged once", async () => {
  const user = await bench.accountFactory(provider.url).subaccount(owner);
  const before = provider.totals().complete;
  const leaver = asks(user, "[[output=3 chunk_ms=60]]", true);
  await until("content has come", leaver.reading);
  const free = lockStore();
  await until("the provider has answered", () => provider.totals().complete > before);
  await Bun.sleep(50);
  expect(await leaver.leave()).toBe("left");
  free();
  await until("it is charged", async () => charges(await bench.ledger(user.key)).length > 0);
  const lines = await settled(user);
  expect(lines).toHaveLength(1);
  // All of it, unless the store held up the reading too.
  expect(lines[0].completion_tokens).toBeWithin(1, 4);
});

test("a whole answer is charged once or, when the client was first, not at all", async () => {
  const user = await bench.accountFactory(provider.url).subaccount(owner);
  const before = provider.totals().complete;
  const free = lockStore();
  const leaver = asks(user, "[[output=3]]", false);
  await until("the provider has answered", () => provider.totals().complete > before);
  await Bun.sleep(50);
  expect(await leaver.leave()).toBe("left");
  free();
  const lines = await settled(user);
  expect(lines.length).toBeWithin(0, 2);
  expect(lines.map(({ basis, completion_tokens }) => [basis, completion_tokens])).toEqual(
    lines.map(() => ["provider", 3]),
  );
});
