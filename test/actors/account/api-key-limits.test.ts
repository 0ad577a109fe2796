// Requests of named keys: the order of refusals, exact caps beside the account's limits, what a hold and a charge count for a
// key, and fees.

import { describe, expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import type { Admitted } from "../../../actors/account/admit.ts";
import type { ApiKeyList } from "../../../actors/account/api-key-list.ts";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { ApiKeySettings } from "../../../actors/api-key/api-key.ts";
import { type ApiKeyId, MAIN_API_KEY, ownedKey } from "../../../actors/ids.ts";
import { ZERO } from "../../../actors/money.ts";
import { NO_LIMITS } from "../../../actors/rate-window.ts";
import {
  type admitInput,
  DAY,
  KEY,
  type Living,
  living,
  NOON,
  ROOT_PROFILE,
  usd,
} from "../account-samples.ts";
import { added, changed, deleted, hashOf, rotated, secretOf } from "../api-key-samples.ts";

const FIRST = 1 as ApiKeyId;
type Ask = Parameters<typeof admitInput>[0];

/** Asks for a hold with the secret of the key `robot`. */
const admitted = (one: Living, over: Ask = {}) => one.admitted({ keyHash: secretOf(), ...over });

function withKey(settings: Partial<ApiKeySettings> = {}, profile: Partial<Profile> = {}, credit = usd(100)) {
  const one = living({ profile, credit });
  added(one, settings);
  return one;
}

describe("the first thing in the way is answered:", () => {
  const path = "/v1/embeddings";
  const idempotency = { key: "k", body: "b" };
  /** Each step takes the obstacle away that answered before it. */
  const STEPS: readonly (readonly [string, (one: Living) => Ask | undefined])[] = [
    ["invalid_api_key", (one) => void changed(one, FIRST, { status: true })],
    [
      "account_disabled",
      (one) => void Object.assign(one.state, { profile: { ...one.state.profile, status: true } }),
    ],
    [
      "account_suspended",
      (one) => void Object.assign(one.state, { profile: { ...one.state.profile, suspended: false } }),
    ],
    ["ip_not_allowed", () => ({ ip: "10.0.0.1" })],
    // A node with an old profile without addresses has not looked for the client's.
    ["ip_not_allowed", () => ({ ip: "10.0.0.2", version: 0 })],
    [
      "scope_missing",
      (one) =>
        void changed(one, FIRST, {
          scopes: ["invoke"],
          rpm: 1,
          hardLimit: usd(1),
          dailyLimit: usd(1),
          allowModels: ["n"],
          resources: [path],
        }),
    ],
    ["stale", () => ({ version: 1 })],
    ["idempotency_mismatch", () => ({ idempotency: null })],
    ["path_not_allowed", () => ({ path })],
    ["model_not_allowed", () => ({ model: "n" })],
    ["level_not_allowed", () => ({ routing: null })],
    ["rpm_exceeded", (one) => void changed(one, FIRST, { rpm: 0 })],
    ["hard_limit_reached", (one) => void changed(one, FIRST, { hardLimit: ZERO })],
    ["daily_limit_reached", (one) => void changed(one, FIRST, { dailyLimit: ZERO })],
    ["insufficient_balance", () => ({ cost: usd(0.5) })],
    [
      "daily_limit_reached",
      (one) => void Object.assign(one.state, { profile: { ...one.state.profile, dailyLimit: ZERO } }),
    ],
  ];

  test(STEPS.map(([code]) => code).join(", "), () => {
    const one = living({
      profile: { status: false, suspended: true, allowIps: ["10.0.0.0/8"], dailyLimit: usd(0.3) },
      credit: usd(0.75),
    });
    added(one, { scopes: ["read"], allowIps: ["10.0.0.2"] });
    // A request of the key is running, with the Idempotency-Key that the others send with another body.
    changed(one, FIRST, { scopes: ["invoke"] });
    Object.assign(one.state, { profile: { ...one.state.profile, status: true, suspended: false } });
    const running = {
      id: "r0",
      ip: "10.0.0.2",
      cost: usd(0.1),
      idempotency: { ...idempotency, body: "other" },
    };
    expect(admitted(one, running)).toMatchObject({ cost: usd(0.1) });
    changed(one, FIRST, { scopes: ["read"], status: false });
    Object.assign(one.state, { profile: { ...one.state.profile, status: false, suspended: true } });

    let ask: Ask = {
      ip: "192.0.2.1",
      idempotency,
      routing: { code: "level_not_allowed", message: "" },
    };
    ask = { ...ask, cost: usd(2), promptCost: usd(0.4) };
    const found = STEPS.map(([, clear]) => {
      const code = admitted(one, ask);
      ask = { ...ask, ...(clear(one) ?? {}) };
      return code;
    });
    expect(found).toEqual(STEPS.map(([code]) => code));
    expect(admitted(one, ask)).toMatchObject({ cost: usd(0.5) });
  });

  test("an Idempotency-Key belongs to the key that sent it, and stays with it in a rotation", () => {
    expect(ownedKey("k", FIRST)).not.toBe(ownedKey("k", 2 as ApiKeyId));
    expect(ownedKey("k", MAIN_API_KEY)).toBe("k");
  });
});

describe("a cap of a key", () => {
  const CAPS = [
    ["HardLimit", { hardLimit: usd(2.5) }, "hard_limit_reached"],
    ["DailyLimit", { dailyLimit: usd(2.5) }, "daily_limit_reached"],
    ["RPM", { rpm: 2 }, "rpm_exceeded"],
    ["TPM", { tpm: 250 }, "tpm_exceeded"],
  ] as const satisfies (readonly [string, Partial<ApiKeySettings>, string])[];

  test.each(CAPS)("%s is exact with holds open together, and says whose it is", (_what, cap, code) => {
    const one = withKey(cap);
    expect(["a", "b"].map((id) => admitted(one, { id }))).toEqual(
      Array(2).fill({ cost: usd(1), tokens: 100 }),
    );
    const { refused } = one.admit({ id: "c", keyHash: secretOf() });
    expect([refused?.code, refused?.message.includes("of key robot")]).toEqual([code, true]);
    expect(one.admitted({ id: "main" })).toMatchObject({ cost: usd(1) });
    one.ask({ type: "cancel", id: "a", aborted: false });
    const isRequests = code === "rpm_exceeded";
    expect(typeof admitted(one, { id: "d" })).toBe(isRequests ? "string" : "object");
  });

  test.each(CAPS)("%s counts what was used, whichever secret was presented", (_what, cap, code) => {
    const one = withKey(cap);
    const used = { cost: usd(1), prompt: 50, completion: 50, apiKey: FIRST };
    admitted(one, { id: "a" });
    one.charge({ id: "a", ...used });
    rotated(one, FIRST, "second", { overlapMs: DAY });
    expect(one.admitted({ id: "b", keyHash: hashOf("second") })).toMatchObject({ cost: usd(1) });
    one.charge({ id: "b", ...used });
    const over = { promptCost: usd(0.6), promptTokens: 60, outputTokens: 40 };
    expect(admitted(one, { id: "c", ...over })).toBe(code);
  });

  test.each([
    ["HardLimit", { hardLimit: usd(0.4) }, { cost: usd(0.4), tokens: 100 }],
    ["DailyLimit", { dailyLimit: usd(0.4) }, { cost: usd(0.4), tokens: 100 }],
    ["TPM", { tpm: 40 }, { cost: usd(1), tokens: 40 }],
  ])("%s lets a lone request of the key hold the rest, beside holds of other keys", (_what, cap, given) => {
    const one = withKey(cap);
    added(one, { name: "other" });
    one.admit({ id: "main" });
    one.admit({ id: "other", keyHash: secretOf("other") });
    expect(admitted(one, { id: "a" })).toEqual(given);
    expect(typeof admitted(one, { id: "b" })).toBe("string");
  });

  test("does not let a request be alone on an account that has other holds", () => {
    const one = withKey({ hardLimit: usd(0.8) }, {}, usd(1.5));
    one.admit({ id: "main" });
    expect(admitted(one, { id: "a" })).toBe("insufficient_balance");
  });

  test("ends with the month, the day, the minute", () => {
    const one = withKey({ hardLimit: usd(3), dailyLimit: usd(1), rpm: 1 });
    admitted(one, { id: "a" });
    one.charge({ id: "a", cost: usd(1), apiKey: FIRST });
    expect(admitted(one, { id: "b" })).toBe("rpm_exceeded");
    one.now += 62_000;
    expect(admitted(one, { id: "b" })).toBe("daily_limit_reached");
    one.now = NOON + DAY / 2;
    expect(admitted(one, { id: "b" })).toMatchObject({ cost: usd(1) });
    one.charge({ id: "b", cost: usd(2), apiKey: FIRST });
    one.now += DAY;
    expect(admitted(one, { id: "c" })).toBe("hard_limit_reached");
    one.now = Date.UTC(2026, 1, 1);
    expect(admitted(one, { id: "c" })).toMatchObject({ cost: usd(1) });
  });

  test("that is lowered counts the holds of running requests", () => {
    const one = withKey();
    for (const id of ["a", "b"]) admitted(one, { id });
    changed(one, FIRST, { hardLimit: usd(2) });
    expect(admitted(one, { id: "c" })).toBe("hard_limit_reached");
    changed(one, FIRST, { hardLimit: usd(3) });
    expect(admitted(one, { id: "c" })).toMatchObject({ cost: usd(1) });
  });

  test("holds for Root's keys, although Root has no limits", () => {
    const root = living({ profile: { ...ROOT_PROFILE, keyHash: KEY }, credit: ZERO });
    const settings = { name: "robot", hardLimit: usd(1.5), rpm: 2 };
    const by = { account: root.state.id, apiKey: MAIN_API_KEY, name: "main", expiresAt: null } as const;
    const lists = {
      allowModels: [],
      resources: [],
      allowIps: [],
      scopes: ["invoke", "read", "manage"],
    } as const;
    added(root, settings, { by: { ...by, ...lists }, byHash: KEY });
    expect(admitted(root, { id: "a" })).toMatchObject({ cost: usd(1) });
    expect(admitted(root, { id: "b" })).toBe("hard_limit_reached");
    expect(root.admitted({ id: "main" })).toMatchObject({ cost: usd(1) });
    root.charge({ id: "a", cost: usd(0.2), apiKey: FIRST });
    expect(admitted(root, { id: "b", cost: usd(0.1) })).toMatchObject({ cost: usd(0.1) });
    expect(admitted(root, { id: "c", cost: usd(0.1) })).toBe("rpm_exceeded");
  });

  test("never asks for AutoQuota; a request on a low balance does", () => {
    const one = withKey({ hardLimit: usd(1) }, { autoQuota: usd(5) }, usd(10));
    admitted(one, { id: "a" });
    expect(admitted(one, { id: "b" })).toBe("hard_limit_reached");
    one.charge({ id: "a", cost: usd(1), apiKey: FIRST, keep: usd(2) });
    expect(one.events.some(({ e }) => e.type === "quota_asked")).toBe(false);
    one.charge({ id: "c", cost: usd(7), keep: usd(2) });
    expect(one.events.some(({ e }) => e.type === "quota_asked")).toBe(true);
  });
});

describe("a fee", () => {
  const fee = (one: Living, id: string, apiKey: ApiKeyId = FIRST) =>
    one.ask({ type: "fee", id, amount: usd(0.5), apiKey }).refused?.code ?? null;

  test("counts to the key that asked, beside its charges and holds", () => {
    const one = withKey({ hardLimit: usd(2), dailyLimit: usd(2) });
    expect(fee(one, "F")).toBeNull();
    expect(one.events.at(-1)!.e).toMatchObject({ type: "query_fee", apiKey: FIRST, apiKeyName: "robot" });
    expect(admitted(one, { id: "a" })).toMatchObject({ cost: usd(1) });
    expect([fee(one, "G"), fee(one, "H")]).toEqual([null, "hard_limit_reached"]);
    expect(fee(one, "M", MAIN_API_KEY)).toBeNull();
    expect(one.events.at(-1)!.e).not.toHaveProperty("apiKey");
    one.ask({ type: "cancel", id: "a", aborted: false });
    expect([fee(one, "I"), fee(one, "J"), fee(one, "K")]).toEqual([null, null, "hard_limit_reached"]);
  });

  test("of a key that was deleted meanwhile is refused: its caps are not known any more", () => {
    const one = withKey({ hardLimit: usd(2) });
    deleted(one, FIRST);
    expect(fee(one, "F")).toBe("invalid_api_key");
    expect(fee(one, "M", MAIN_API_KEY)).toBeNull();
  });
});

describe("a running request", () => {
  test("of a key that is deleted meanwhile is charged to it, and counts among the named keys' costs", () => {
    const one = withKey({ hardLimit: usd(2) });
    const { apiKey } = one.admit({ id: "a", keyHash: secretOf() }).reply as Admitted;
    expect(apiKey).toMatchObject({ id: FIRST, name: "robot" });
    deleted(one, FIRST);
    expect(one.charge({ id: "a", cost: usd(1), apiKey: FIRST, apiKeyName: "robot" }).events).toMatchObject([
      { type: "charge", apiKey: FIRST, apiKeyName: "robot" },
    ]);
    expect(one.state.apiKeys!.cost.total).toBe(usd(1));
    const { main } = one.ask({ type: "apiKeys" }).reply as ApiKeyList;
    expect(main).toMatchObject({ costToday: ZERO, costMonth: ZERO, costTotal: ZERO });
    expect(one.state.volatile).toMatchObject({ heldCost: ZERO });
    expect(one.state.volatile.keyHolds).toBeNull();
  });

  test("of a key that is disabled or expires meanwhile finishes, and moves to another model within the key's lists", () => {
    const one = withKey({ allowModels: ["m", "n"], hardLimit: usd(1.5), expiresAt: NOON + 1_000 });
    admitted(one, { id: "a" });
    changed(one, FIRST, { status: false });
    one.now += 2_000;
    expect(admitted(one, { id: "b" })).toBe("invalid_api_key");
    expect(admitted(one, { id: "a", model: "o" })).toBe("model_not_allowed");
    expect(admitted(one, { id: "a", model: "n", cost: usd(1.2) })).toMatchObject({ cost: usd(1.2) });
    expect(one.state.volatile.keyHolds?.get(FIRST)).toMatchObject({ count: 1, cost: usd(1.2) });
    one.charge({ id: "a", cost: usd(1.2), apiKey: FIRST });
    expect(one.state.apiKeys!.get(FIRST)!.spentInMonth(one.now)).toBe(usd(1.2));
  });

  test("is counted once for its key however it ends: released, cancelled, or charged", () => {
    const one = withKey({ rpm: 3 });
    for (const id of ["a", "b", "c"]) admitted(one, { id });
    one.ask({ type: "cancel", id: "a", aborted: false });
    one.ask({ type: "releaseOrphanedHolds", ids: ["b"] });
    one.charge({ id: "c", apiKey: FIRST });
    expect(admitted(one, { id: "d" })).toBe("rpm_exceeded");
    changed(one, FIRST, { rpm: 4 });
    expect(admitted(one, { id: "d" })).toMatchObject({ cost: usd(1) });
  });

  test("whose hold was lost and is asserted again counts for its key as before", () => {
    const one = withKey({ hardLimit: usd(2.5), rpm: 5 });
    for (const id of ["a", "b"]) admitted(one, { id });
    const holds = [...one.state.volatile.holds.values()].map((hold) => ({
      ...hold,
      expiresAt: one.now + HOLD_TTL_MS,
    }));
    one.state = account.thaw("7", JSON.parse(JSON.stringify(account.freeze(one.state))));
    expect(one.ask({ type: "reassertHolds", holds, ended: [] }).reply).toEqual({ dropped: 0 });
    expect(one.state.volatile.keyHolds?.get(FIRST)).toMatchObject({ count: 2, cost: usd(2) });
    expect(admitted(one, { id: "c" })).toBe("hard_limit_reached");
    one.ask({ type: "renew", id: "a", cost: usd(1.4), tokens: 100 });
    expect(one.state.volatile.keyHolds?.get(FIRST)?.cost).toBe(usd(2.4));
  });

  test("uses what it used: beyond a cap a key goes only by one request that used more than it held", () => {
    const one = withKey({ hardLimit: usd(1) });
    admitted(one, { id: "a" });
    one.charge({ id: "a", cost: usd(1.7), apiKey: FIRST });
    expect(admitted(one, { id: "b", cost: usd(0.001), promptCost: ZERO })).toBe("hard_limit_reached");
    changed(one, FIRST, { hardLimit: ZERO });
    expect(admitted(one, { id: "b" })).toMatchObject({ cost: usd(1) });
  });
});

test("costs of named keys and the main key add up to the account's, day by day", () => {
  const one = withKey();
  added(one, { name: "other" });
  one.charge({ id: "a", cost: usd(1), apiKey: FIRST });
  one.now += DAY;
  one.charge({ id: "b", cost: usd(2), apiKey: 2 as ApiKeyId });
  one.charge({ id: "c", cost: usd(4) });
  const { main, keys } = one.ask({ type: "apiKeys" }).reply as ApiKeyList;
  const figures = [main, ...keys].map(({ costToday, costMonth, costTotal }) => [
    costToday,
    costMonth,
    costTotal,
  ]);
  expect(figures).toEqual([
    [usd(4), usd(4), usd(4)],
    [ZERO, usd(1), usd(1)],
    [usd(2), usd(2), usd(2)],
  ]);
});

test("an account without limits has its keys' limits checked all the same, and its own when a key has none", () => {
  const one = withKey({ rpm: 1 }, { limits: { ...NO_LIMITS, rpm: 2 } });
  expect(admitted(one, { id: "a" })).toMatchObject({ cost: usd(1) });
  expect(one.admitted({ id: "b" })).toMatchObject({ cost: usd(1) });
  const { refused } = one.admit({ id: "c" });
  expect([refused?.code, refused?.message.includes("of the account")]).toEqual(["rpm_exceeded", true]);
});
