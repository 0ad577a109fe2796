// A client that goes while its charge waits for a store that is slow at the moment: it had everything but the last byte,
// so it is charged once, in full, and nothing stays held.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Provider, startProvider } from "../provider/provider.ts";
import { type Account, asking, charged, charges, nano, type Owner, until } from "./harness.ts";
import { type ProcessBench, processBench } from "./process.ts";

let bench: ProcessBench;
let provider: Provider;
let owner: Owner;
beforeAll(async () => {
  provider = startProvider();
  bench = processBench();
  await bench.start();
  owner = await bench.household(provider.url).owner();
}, 20_000);
afterAll(async () => {
  await bench.close();
  provider.close();
});

/** Nobody can write until `free` is called. */
function lockStore(): () => void {
  const writer = new Database(bench.database);
  writer.run("PRAGMA busy_timeout = 2000");
  writer.run("BEGIN IMMEDIATE");
  return () => {
    writer.run("ROLLBACK");
    writer.close();
  };
}

test.each([
  ["whole", false],
  ["streamed", true],
])("%s", async (_, stream) => {
  const user: Account = await bench.household(provider.url).subaccount(owner);
  const leaving = new AbortController();
  const free = lockStore();
  const before = provider.totals().complete;
  const reading = fetch(`${bench.url()}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.key}` },
    body: JSON.stringify({ ...asking("[[output=3]]"), max_tokens: 3, stream }),
    signal: leaving.signal,
  })
    .then((response) => response.text())
    .then(
      () => "answered",
      () => "left",
    );
  await until("the provider has answered", () => provider.totals().complete > before);
  await Bun.sleep(50);
  leaving.abort();
  expect(await reading).toBe("left");
  free();
  await until("it is charged", async () => charges(await bench.ledger(user.key)).length === 1);
  const lines = await bench.ledger(user.key);
  expect(charges(lines)).toMatchObject([{ basis: "provider", completion_tokens: 3 }]);
  expect(nano(await bench.balance(user.key))).toBe(nano(10) - charged(lines));
  await until("nothing is held", () => bench.nothingHeld(user.key), 1_000);
  expect(charges(await bench.ledger(user.key))).toHaveLength(2);
  expect(provider.inFlight()).toBe(0);
});
