// kill -9 under load, again and again: what a client received in full is in the ledger exactly once, at the price of
// its answer; nothing is booked without a request; nothing stays held; windows and balances go on where they were.

import { expect, test } from "bun:test";
import { type Account, asking, charged, charges, fresh, type Json, nano, until } from "./harness.ts";
import { readStream } from "./streaming.ts";
import { prepared, useProcessBench } from "./use-bench.ts";

/** How many answers have been received in full when the kill comes. */
const ROUNDS = [1, 40, 150, 400];
const CLIENTS = 24;

const { bench, provider } = useProcessBench();
const owner = prepared(() => bench.accountFactory(provider.url).owner({ credit: 9_000 }));

interface Received {
  readonly user: Account;
  readonly id: string;
  readonly cost: string;
}

/** Clients that ask one thing after another, whole and streamed, until the server is gone. */
function load(users: readonly Account[]) {
  const received: Received[] = [];
  const sent = new Set<string>();
  let over = false;

  async function client(user: Account, nth: number): Promise<void> {
    for (let i = 0; !over; i++) {
      const id = `load-${fresh()}`;
      const stream = (nth + i) % 2 === 0;
      sent.add(id);
      try {
        const cost = await ask(user, id, stream);
        if (cost !== null) received.push({ user, id, cost });
      } catch {
        // The server is gone, or the answer broke off: it was not received in full.
        await Bun.sleep(2);
      }
    }
  }

  async function ask(user: Account, id: string, stream: boolean): Promise<string | null> {
    const response = await fetch(`${bench.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}`, "x-request-id": id, "x-arbor-cost": "stream" },
      body: JSON.stringify({ ...asking("[[output=9 chunk_ms=1 prompt=31]]"), stream, max_tokens: 20 }),
    });
    const text = await response.text();
    if (response.status !== 200) return null;
    if (!stream)
      return JSON.parse(text).usage.total_tokens === 40 ? response.headers.get("x-arbor-cost") : null;
    const read = readStream(response.status, response.headers, text);
    return read.done ? read.cost : null;
  }

  const clients = Array.from({ length: CLIENTS }, (_, nth) => client(users[nth % users.length]!, nth));
  return {
    received,
    sent,
    async stop() {
      over = true;
      await Promise.all(clients);
    },
  };
}

test("kill -9 under load loses no charge that a client received, and books none twice", async () => {
  const factory = bench.accountFactory(provider.url);
  const users = await Promise.all(
    Array.from({ length: 4 }, () => factory.subaccount(owner, { CreditGranted: 50 })),
  );
  const received: Received[] = [];
  const sent = new Set<string>();

  for (const count of ROUNDS) {
    const running = load(users);
    await until("the load has run", () => running.received.length >= count);
    const ended = await bench.end("SIGKILL");
    expect(ended.signal).toBe("SIGKILL");
    await running.stop();
    received.push(...running.received);
    for (const id of running.sent) sent.add(id);

    await bench.start();
    for (const user of users) {
      const lines = await bench.ledger(user.key);
      const booked = Map.groupBy(charges(lines), (line: Json) => line.request_id as string);
      for (const [id, twins] of booked) {
        expect(sent.has(id)).toBe(true);
        expect(twins).toHaveLength(1);
      }
      for (const { id, cost } of received.filter((one) => one.user === user)) {
        expect(booked.get(id)).toHaveLength(1);
        expect(nano(-booked.get(id)![0].amount)).toBe(nano(cost));
      }
      expect(nano(await bench.balance(user.key))).toBe(nano(50) - charged(lines));
      expect(nano(lines.at(-1).balance_after)).toBe(nano(50) - charged(lines));
    }
  }
  // The whole balance may be held again: no hold of the dead is left.
  for (const user of users) expect(await bench.nothingHeld(user.key)).toBe(true);
}, 90_000);

test("windows survive a kill: what was used up before is used up after", async () => {
  const factory = bench.accountFactory(provider.url);
  const limited = await factory.subaccount(owner, { RPM: 4 });
  const daily = await factory.subaccount(owner, { RPD: 3 });
  const tokens = await factory.subaccount(owner, { TPM: 100 });
  const before = [];
  for (let i = 0; i < 4; i++) before.push(await bench.chat(limited.key, "[[output=1]]"));
  for (let i = 0; i < 3; i++) before.push(await bench.chat(daily.key, "[[output=1]]"));
  before.push(await bench.chat(tokens.key, "[[output=60 prompt=40]]", { max_tokens: 60 }));
  expect(before.map((answer) => answer.status)).toEqual(before.map(() => 200));
  await bench.end("SIGKILL");
  await bench.start();
  for (const [user, code] of [
    [limited, "rpm_exceeded"],
    [daily, "rpd_exceeded"],
    [tokens, "tpm_exceeded"],
  ] as const) {
    const { status, body } = await bench.chat(user.key, "[[output=1]]", { max_tokens: 1 });
    expect([status, body.error.code]).toEqual([429, code]);
  }
});

test("accounts, keys and configuration that were answered are there after a kill", async () => {
  const factory = bench.accountFactory(provider.url);
  const another = await factory.owner({ keys: 2 });
  const child = await factory.subaccount(another, { CreditGranted: 7.25, RPM: 9 });
  await bench.end("SIGKILL");
  await bench.start();
  const { body } = await bench.call(another.key, "GET", `/x-users/${child.id}`);
  expect(body).toMatchObject([{ ID: child.id, Name: child.name, Balance: 7.25, RPM: 9 }]);
  expect((await bench.call(another.key, "GET", "/x-keys")).body.keys).toHaveLength(2);
  expect((await bench.chat(child.key, "[[output=2]]")).status).toBe(200);
  const taken = await bench.call(another.key, "POST", "/x-users", {
    Name: child.name.toUpperCase(),
    Email: "a@b.example",
    CreditGranted: 2,
  });
  expect(taken.body.error.code).toBe("duplicate_name");
});

test("a kill while accounts are being created leaves each of them whole or absent, and no dollar is lost", async () => {
  const factory = bench.accountFactory(provider.url);
  const giver = await factory.owner({ credit: 500 });
  const asked = Array.from({ length: 40 }, (_, i) => `born-${fresh()}-${i}`);
  let answered = 0;
  const answers = Promise.allSettled(
    asked.map(async (Name, i) => {
      // One after another, so that the kill finds some done, some under way and some not begun.
      await until("it is this one's turn", () => answered >= Math.floor(i / 4));
      const answer = bench.call(giver.key, "POST", "/x-users", {
        Name,
        Email: "a@b.example",
        CreditGranted: 2,
      });
      return answer.finally(() => answered++);
    }),
  );
  await until("some are born", () => answered >= 5);
  await bench.end("SIGKILL");
  const settled = await answers;
  await bench.start();
  const lines = await bench.ledger(giver.key);
  const given = lines.filter((line) => line.type === "transfer_out").length;
  let there = 0;
  for (const [i, name] of asked.entries()) {
    const { status, body } = await bench.call(giver.key, "GET", `/x-users/${name}`);
    const answer = settled[i]!;
    const created =
      answer.status === "fulfilled" && answer.value.status === 200 ? answer.value.body.User : null;
    if (created !== null) {
      expect(body).toMatchObject([{ ID: created.ID, Balance: 2 }]);
      expect(await bench.balance(created.SecretKey)).toBe(2);
    }
    if (status === 200) there++;
  }
  expect(there).toBe(given);
  expect(await bench.balance(giver.key)).toBe(500 - 2 * given);
});
