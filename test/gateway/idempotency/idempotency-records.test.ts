// Idempotency keys of gateway requests: what a repeat finds, by the ledger's mark first and by the kept answer second.

import { beforeEach, describe, expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import type { AccountEvent, ChargeFacts, Idempotency } from "../../../actors/account/state.ts";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { ZERO } from "../../../actors/money.ts";
import { RefusedError } from "../../../src/base/errors.ts";
import type { Log } from "../../../src/base/log.ts";
import {
  createIdempotencyRecords,
  type IdempotencyRecords,
} from "../../../src/gateway/idempotency/idempotency-records.ts";
import type { Store } from "../../../src/store/store.ts";
import { createSecretVault } from "../../../src/upstream/secret-vault.ts";
import { factsOf } from "../../actors/account-samples.ts";
import { type ManualClock, manualClock } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { commit } from "../../suites/store-samples.ts";
import { bodyOf } from "../request-samples.ts";

const SEVEN = 7 as AccountId;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ANSWER = { body: '{"id":"chatcmpl-1"}', headers: { "x-arbor-cost": "0.5" } };
const vaultOf = (secret: string) =>
  createSecretVault(Buffer.from(secret.padEnd(32, "#")).toString("base64"), null);

let clock: ManualClock;
let store: Store;
let logged: string[];
let repeats: IdempotencyRecords;
let asked: Idempotency;
const log: Log = (level, event, fields) => void logged.push(`${level} ${event} ${JSON.stringify(fields)}`);

beforeEach(() => {
  clock = manualClock();
  store = memoryStore({ clock });
  logged = [];
  repeats = createIdempotencyRecords({ store, vault: vaultOf("first"), clock, log });
  asked = repeats.hashes("/v1/chat/completions", "my-key", bodyOf("{}"), MAIN_API_KEY);
});

let seq = 0;
/** A durable charge, as the account writes it. */
async function charge(
  of: AccountId,
  idempotency: Idempotency,
  over: Partial<ChargeFacts> = {},
): Promise<void> {
  seq++;
  const facts = factsOf({ id: `r${seq}`, idempotency, ...over });
  const e: AccountEvent = { type: "charge", ...facts, account: of, amount: ZERO, balanceAfter: ZERO };
  const at = clock.wall();
  const marks = account.dedupIds(e);
  await store.append([
    commit(`account/${of}`, seq, { at, marks: [...marks], events: [{ at, line: true, e }] }),
  ]);
}

/** Keeps an answer for the last charge. */
const keep = (of: AccountId, idempotency: Idempotency, answer = ANSWER, id = `r${seq}`): Promise<void> =>
  repeats.keep(of, idempotency, id, answer);

const codeOf = async (found: ReturnType<IdempotencyRecords["find"]>) => {
  const one = await found;
  return one.kind === "refused" ? one.refusal.code : one.kind;
};

describe("a client's key", () => {
  test.each([
    ["one character", "k"],
    ["255 characters", "k".repeat(255)],
    ["spaces and signs", " ~!key 1"],
  ])("of %s is a key", (_what, key) => {
    expect(repeats.hashes("/v1/x", key, bodyOf("{}"), MAIN_API_KEY)).toEqual({
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      body: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test.each([
    ["nothing", ""],
    ["256 characters", "k".repeat(256)],
    ["a line break", "a\nb"],
    ["a letter beyond ASCII", "schlüssel"],
  ])("of %s is refused", (_what, key) => {
    const refused = () => repeats.hashes("/v1/x", key, bodyOf("{}"), MAIN_API_KEY);
    expect(refused).toThrow(RefusedError);
    expect(refused).toThrow("Idempotency-Key");
  });

  test("is the same however often it comes; path and body make another request of it", () => {
    expect(repeats.hashes("/v1/chat/completions", "my-key", bodyOf("{}"), MAIN_API_KEY)).toEqual(asked);
    for (const [path, body] of [
      ["/v1/messages", "{}"],
      ["/v1/chat/completions", "{ }"],
    ] as const) {
      const other = repeats.hashes(path, "my-key", bodyOf(body), MAIN_API_KEY);
      expect(other.key).toBe(asked.key);
      expect(other.body).not.toBe(asked.body);
    }
    expect(repeats.hashes("/v1/chat/completions", "other-key", bodyOf("{}"), MAIN_API_KEY).key).not.toBe(
      asked.key,
    );
  });

  test("does not leave its hash: the store holds nothing of it", async () => {
    await keep(SEVEN, asked);
    const row = await store.answer(`7:gateway:${asked.key}:r${seq}`, clock.wall());
    expect(JSON.stringify(row)).not.toContain("my-key");
  });
});

describe("a repeat finds", () => {
  test("nothing before the charge, even when an answer is there", async () => {
    expect(await repeats.find(SEVEN, asked)).toEqual({ kind: "none" });
    await keep(SEVEN, asked);
    expect(await repeats.find(SEVEN, asked)).toEqual({ kind: "none" });
  });

  test("the very answer, headers included, once it was charged and kept", async () => {
    await charge(SEVEN, asked);
    await keep(SEVEN, asked);
    expect(await repeats.find(SEVEN, asked)).toEqual({ kind: "answer", ...ANSWER });
    expect(await repeats.find(SEVEN, asked)).toEqual({ kind: "answer", ...ANSWER });
  });

  test("the answer of the request that was charged, whatever another one with the key kept since", async () => {
    await charge(SEVEN, asked);
    await keep(SEVEN, asked);
    const other = repeats.hashes("/v1/chat/completions", "my-key", bodyOf("{1}"), MAIN_API_KEY);
    for (const uncharged of [asked, other]) {
      await keep(SEVEN, uncharged, { ...ANSWER, body: "of a node that was declared dead" }, "late");
      expect(await repeats.find(SEVEN, asked)).toEqual({ kind: "answer", ...ANSWER });
    }
  });

  test("that it is too late when the charge is there and no answer", async () => {
    await charge(SEVEN, asked);
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("idempotency_expired");
  });

  test("a mismatch for another body, answer or none", async () => {
    await charge(SEVEN, asked);
    const other = repeats.hashes("/v1/chat/completions", "my-key", bodyOf("{ }"), MAIN_API_KEY);
    expect(await codeOf(repeats.find(SEVEN, other))).toBe("idempotency_mismatch");
    await keep(SEVEN, asked);
    expect(await codeOf(repeats.find(SEVEN, other))).toBe("idempotency_mismatch");
  });

  test("nothing of another account's, with the same key and body", async () => {
    await charge(SEVEN, asked);
    await keep(SEVEN, asked);
    expect(await codeOf(repeats.find(8 as AccountId, asked))).toBe("none");
  });

  test("its own charge in a commit with others", async () => {
    const other = repeats.hashes("/v1/chat/completions", "other-key", bodyOf("{1}"), MAIN_API_KEY);
    const e = (idempotency: Idempotency) => ({
      at: clock.wall(),
      line: true,
      e: { type: "charge", ...factsOf({ idempotency }), account: SEVEN },
    });
    const marks = [other, asked].map(({ key }) => `repeat:7:${key}`);
    await store.append([commit("account/7", 1, { marks, events: [e(other), e(asked)] })]);
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("idempotency_expired");
    expect(await codeOf(repeats.find(SEVEN, other))).toBe("idempotency_expired");
  });

  test("its answer for an hour, that it expired for a day, and then nothing", async () => {
    await charge(SEVEN, asked);
    await keep(SEVEN, asked);
    clock.stepWall(HOUR - 1);
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("answer");
    clock.stepWall(1);
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("idempotency_expired");
    clock.stepWall(23 * HOUR - 1);
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("idempotency_expired");
    clock.stepWall(1);
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("none");
  });

  test("the newest charge, when a key was used anew after its day", async () => {
    await charge(SEVEN, asked);
    clock.stepWall(25 * HOUR);
    const anew = repeats.hashes("/v1/chat/completions", "my-key", bodyOf("{2}"), MAIN_API_KEY);
    await charge(SEVEN, anew);
    expect(await codeOf(repeats.find(SEVEN, anew))).toBe("idempotency_expired");
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("idempotency_mismatch");
  });

  test("that a ledger which cannot be read decides nothing", async () => {
    const broken = { ...store, commitsByDedupId: () => Promise.reject(new Error("the store is gone")) };
    const { find } = createIdempotencyRecords({ store: broken, vault: vaultOf("first"), clock, log });
    await expect(find(SEVEN, asked)).rejects.toThrow("gone");
  });
});

describe("an answer", () => {
  test("of 256 KB is kept, a larger one is not; bytes count, not characters", async () => {
    await charge(SEVEN, asked);
    const bodies = [
      ["x".repeat(262_144), "answer"],
      ["x".repeat(262_145), "idempotency_expired"],
      ["é".repeat(131_073), "idempotency_expired"],
    ] as const;
    for (const [body, found] of bodies) {
      store = memoryStore({ clock });
      repeats = createIdempotencyRecords({ store, vault: vaultOf("first"), clock, log });
      await charge(SEVEN, asked);
      await keep(SEVEN, asked, { ...ANSWER, body });
      expect(await codeOf(repeats.find(SEVEN, asked))).toBe(found);
    }
  });

  test("is sealed at rest", async () => {
    await keep(SEVEN, asked);
    const row = await store.answer(`7:gateway:${asked.key}:r${seq}`, clock.wall());
    expect(row?.body).not.toContain("chatcmpl");
    expect(vaultOf("first").open(JSON.parse(row!.body))).toContain("chatcmpl-1");
  });

  test("goes when a hundred newer ones of its account came", async () => {
    await charge(SEVEN, asked);
    await keep(SEVEN, asked);
    for (let i = 0; i < 99; i++)
      await keep(SEVEN, repeats.hashes("/v1/x", `key-${i}`, bodyOf(""), MAIN_API_KEY));
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("answer");
    await keep(8 as AccountId, repeats.hashes("/v1/x", "key-99", bodyOf(""), MAIN_API_KEY));
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("answer");
    await keep(SEVEN, repeats.hashes("/v1/x", "key-99", bodyOf(""), MAIN_API_KEY));
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("idempotency_expired");
  });

  test("that cannot be kept harms no request, and is logged", async () => {
    const full = { ...store, keepAnswer: () => Promise.reject(new Error("the disk is full")) };
    await createIdempotencyRecords({ store: full, vault: vaultOf("first"), clock, log }).keep(
      SEVEN,
      asked,
      "r",
      ANSWER,
    );
    expect(logged).toEqual([expect.stringContaining("warn answer_not_kept")]);
    expect(logged[0]).not.toContain("chatcmpl");
  });

  test("in a box of a key that is gone, or damaged, has expired", async () => {
    await charge(SEVEN, asked);
    await keep(SEVEN, asked);
    const later = createIdempotencyRecords({ store, vault: vaultOf("second"), clock, log });
    expect(await codeOf(later.find(SEVEN, asked))).toBe("idempotency_expired");
    const row = (await store.answer(`7:gateway:${asked.key}:r${seq}`, clock.wall()))!;
    await store.keepAnswer({ ...row, body: "no box" }, 100);
    expect(await codeOf(repeats.find(SEVEN, asked))).toBe("idempotency_expired");
    expect(logged.filter((line) => line.includes("answer_unreadable"))).toHaveLength(2);
  });
});
