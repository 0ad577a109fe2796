// What happened to provider keys outlives the process that saw it: a kill before anything was written behind the commits
// loses no event, and none is there twice.

import { expect, test } from "bun:test";
import { type Json, until } from "./harness.ts";
import { ask } from "./harness-keys.ts";
import { useProcessBench } from "./use-bench.ts";

const { bench, provider } = useProcessBench();

test("events survive kills", async () => {
  const factory = bench.accountFactory(provider.url);
  const owner = await factory.owner({ keys: 1 });
  const user = await factory.subaccount(owner);
  const { id, secret } = owner.keys[0]!;
  const key = async (): Promise<Json> => (await bench.call(owner.key, "GET", `/x-keys/${id}`)).body.key;
  const events = async (): Promise<Json[]> => (await bench.call(owner.key, "GET", "/x-events")).body.events;

  expect((await ask(bench, user)).result).toBe("200");
  provider.behave(secret, "fault=401");
  await ask(bench, user);
  await until("it sleeps", async () => (await key()).State === "sleeping");
  const asleep = await key();
  await bench.end("SIGKILL");
  await bench.start();
  const after = await key();
  expect([after.State, after.Until, after.Reason]).toEqual(["sleeping", asleep.Until, "invalid_key"]);
  // What lay in memory is gone; what is of the ledger is not.
  expect(after.LastHour.attempts).toBe(0);
  await until("the cost is there", async () => (await key()).CostToday > 0);
  await until("the event is there", async () => (await events()).length === 1);

  await bench.call(owner.key, "PUT", `/x-keys/${id}`, { Sleep: false });
  await bench.end("SIGKILL");
  await bench.start();
  expect((await key()).State).toBe("normal");
  await until("both events are there", async () => (await events()).length === 2);
  expect(await events()).toMatchObject([
    { type: "wake", key_id: id, reason: "woken" },
    { type: "sleep", key_id: id, reason: "invalid_key", until: asleep.Until },
  ]);
  const cost = (await key()).CostToday;
  const charges = (await bench.ledger(user.key)).filter(({ type }) => type === "charge");
  expect(cost).toBe(-charges[0]!.amount);
}, 120_000);
