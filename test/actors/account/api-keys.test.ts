// The named keys of an account: their lives and secrets, who may touch them, and what a move leaves of them.

import { describe, expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import type { ApiKeyList } from "../../../actors/account/api-key-list.ts";
import type { AddedApiKey, ChangedApiKey } from "../../../actors/account/api-keys.ts";
import type { IdentifiedCaller } from "../../../actors/account/identify.ts";
import {
  API_KEYS_MADE_PER_DAY_MAX,
  API_KEYS_MAX,
  DELETED_KEY_MS,
  DELETED_KEYS_MAX,
  type RequiredScope,
} from "../../../actors/api-key/api-key.ts";
import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { DAY, done, KEY, type Living, living, NOON, usd } from "../account-samples.ts";
import {
  above,
  added,
  BY_MAIN,
  changed,
  deleted,
  hashOf,
  ownKey,
  rotated,
  secretOf,
  settingsOf,
  tryToAdd,
} from "../api-key-samples.ts";

const HOUR = 3_600_000;
const FIRST = 1 as ApiKeyId;

/** The code of the refusal of a call with this secret, or null; the message where one is asked for. */
function answer(one: Living, keyHash: string, scope: RequiredScope = "none") {
  const input = { keyHash, ip: "192.0.2.1", scope, suspendedToo: false };
  return one.ask({ type: "identify", ...input }).refused ?? null;
}
const isLive = (one: Living, keyHash: string): boolean => answer(one, keyHash) === null;

/** The same account from its snapshot, as text. */
function thawed(one: Living): Living {
  one.state = account.thaw("7", JSON.parse(JSON.stringify(account.freeze(one.state))));
  return one;
}

/** The account moves below another parent. */
function moved(one: Living, to: number, dna: string): void {
  const id = `move-${to}`;
  one.ask({ type: "move", id, bornAt: one.now, to: to as AccountId, dna, by: 1 as AccountId });
  one.ask(done(`${id}:join`, null));
  expect(one.state.profile).toMatchObject({ parent: to, dna });
}

describe("a key", () => {
  test("is good from its addition, and calls with its scopes", () => {
    const one = living();
    expect(answer(one, secretOf())?.code).toBe("invalid_api_key");
    added(one, { scopes: ["read"] });
    const input = { keyHash: secretOf(), ip: "", scope: "read", suspendedToo: false } as const;
    const { key } = one.ask({ type: "identify", ...input }).reply as IdentifiedCaller;
    expect(key).toMatchObject({ account: 7, apiKey: FIRST, name: "robot", scopes: ["read"] });
    expect(answer(one, secretOf(), "manage")?.code).toBe("scope_missing");
    expect(answer(one, secretOf(), "manage")?.message).toContain('"manage"');
    expect(answer(one, secretOf(), "main_key")?.code).toBe("scope_missing");
    expect(isLive(one, KEY)).toBe(true);
  });

  test("is invalid from its expiry on, to the ms", () => {
    const one = living();
    added(one, { expiresAt: NOON + 1_000 });
    one.now = NOON + 999;
    expect(isLive(one, secretOf())).toBe(true);
    one.now = NOON + 1_000;
    expect(answer(one, secretOf())).toMatchObject({
      code: "invalid_api_key",
      message: expect.stringContaining("expired"),
    });
    changed(one, FIRST, { expiresAt: null });
    expect(isLive(one, secretOf())).toBe(true);
  });

  test("is invalid while it is disabled, which the refusal says", () => {
    const one = living();
    added(one);
    changed(one, FIRST, { status: false });
    expect(answer(one, secretOf())?.message).toContain("disabled");
    changed(one, FIRST, { status: true });
    expect(isLive(one, secretOf())).toBe(true);
  });

  test("that is disabled ends both secrets, the former one for good", () => {
    const one = living();
    added(one);
    rotated(one, FIRST, "second", { overlapMs: HOUR });
    changed(one, FIRST, { status: false });
    expect([isLive(one, secretOf()), isLive(one, hashOf("second"))]).toEqual([false, false]);
    changed(one, FIRST, { status: true });
    expect([isLive(one, secretOf()), isLive(one, hashOf("second"))]).toEqual([false, true]);
  });

  test("that is deleted is said to be so for 30 days, its name is free at once, and its id is never given again", () => {
    const one = living();
    added(one);
    expect(deleted(one, FIRST).refused).toBeUndefined();
    expect(deleted(one, FIRST).refused?.code).toBe("key_not_found");
    expect(answer(one, secretOf())?.message).toContain("was deleted");
    one.now += DELETED_KEY_MS - 1;
    expect(one.state.apiKeys!.deadHashes(one.now)).toEqual([]);
    one.now += 1;
    expect(one.state.apiKeys!.deadHashes(one.now)).toEqual([secretOf()]);
    one.ask({ type: "forgetSecrets", hashes: [secretOf()] });
    expect(answer(one, secretOf())?.message).not.toContain("deleted");
    expect(added(one)).toBe(2 as ApiKeyId);
  });

  test("that is deleted is one of 200 that are remembered: the oldest goes first", () => {
    const one = living();
    for (let i = 1; i <= DELETED_KEYS_MAX + 1; i++) deleted(one, added(one, { name: `k${i}` }));
    expect(one.state.apiKeys!.deadHashes(one.now)).toEqual([secretOf("k1")]);
    expect(answer(one, secretOf("k1"))?.message).not.toContain("deleted");
    expect(answer(one, secretOf("k2"))?.message).toContain("deleted");
  });

  test("is one of 200 at most, and secrets are at most 1,000 a UTC day", () => {
    const one = living();
    for (let i = 1; i <= API_KEYS_MAX; i++) added(one, { name: `k${i}` });
    expect(tryToAdd(one).refused?.code).toBe("key_limit_reached");
    deleted(one, FIRST);
    expect(tryToAdd(one).refused).toBeUndefined();
    for (let i = API_KEYS_MAX + 1; i < API_KEYS_MADE_PER_DAY_MAX; i++) {
      expect(rotated(one, 2 as ApiKeyId, `r${i}`).refused).toBeUndefined();
    }
    expect(rotated(one, 2 as ApiKeyId, "more").refused?.code).toBe("key_limit_reached");
    deleted(one, 3 as ApiKeyId);
    expect(tryToAdd(one, { name: "another" }).refused?.code).toBe("key_limit_reached");
    one.now = NOON + DAY / 2 - 1;
    expect(rotated(one, 2 as ApiKeyId, "more").refused?.code).toBe("key_limit_reached");
    one.now += 1;
    expect(rotated(one, 2 as ApiKeyId, "more").refused).toBeUndefined();
  });

  test.each(["Robot", "main", "MAIN"])("has a name of its own: %s is refused", (name) => {
    const one = living();
    added(one);
    expect(tryToAdd(one, { name }).refused?.code).toBe("duplicate_name");
    const other = added(one, { name: "other" });
    expect(changed(one, other, { name }).refused?.code).toBe("duplicate_name");
    expect(changed(one, FIRST, { name: "ROBOT" }).refused).toBeUndefined();
  });

  test("is changed all or nothing, and answers what it is then and what it was", () => {
    const one = living();
    added(one, { rpm: 5 });
    expect(changed(one, FIRST, { rpm: 9, scopes: ["manage"] }).refused?.code).toBe("invalid_parameter");
    expect(one.state.apiKeys!.get(FIRST)!.key).toMatchObject({ rpm: 5, scopes: ["invoke"] });
    const { row, before } = changed(one, FIRST, { rpm: 9, name: "renamed" }).reply as ChangedApiKey;
    expect([row, before]).toMatchObject([
      { rpm: 9, name: "renamed" },
      { rpm: 5, name: "robot" },
    ]);
  });

  test("of id 0 is the main key, which nobody changes, rotates or deletes here", () => {
    const one = living();
    const main = 0 as ApiKeyId;
    const found = [changed(one, main, { rpm: 1 }), rotated(one, main, "x"), deleted(one, main)];
    expect(found.map(({ refused }) => refused?.code)).toEqual(Array(3).fill("field_not_settable"));
  });

  test("records a use that writes no line at most once an hour", () => {
    const one = living();
    added(one);
    const uses = () => one.events.filter(({ e }) => e.type === "api_key_used").length;
    answer(one, secretOf());
    one.now += HOUR - 1;
    answer(one, secretOf());
    expect(uses()).toBe(1);
    one.now += 1;
    answer(one, secretOf());
    expect(uses()).toBe(2);
  });
});

describe("a rotation", () => {
  test("without overlap ends the former secret at once", () => {
    const one = living();
    added(one);
    rotated(one, FIRST, "second");
    expect(answer(one, secretOf())?.message).toContain("replaced");
    expect(isLive(one, hashOf("second"))).toBe(true);
  });

  test("with overlap leaves the former secret good that long, to the ms", () => {
    const one = living();
    added(one);
    rotated(one, FIRST, "second", { overlapMs: HOUR });
    one.now += HOUR - 1;
    expect([isLive(one, secretOf()), isLive(one, hashOf("second"))]).toEqual([true, true]);
    one.now += 1;
    expect([isLive(one, secretOf()), isLive(one, hashOf("second"))]).toEqual([false, true]);
    expect(one.state.apiKeys!.deadHashes(one.now)).toEqual([secretOf()]);
  });

  test("leaves two secrets at most: a further one ends the oldest at once", () => {
    const one = living();
    added(one);
    rotated(one, FIRST, "second", { overlapMs: HOUR });
    rotated(one, FIRST, "third", { overlapMs: HOUR });
    const live = [secretOf(), hashOf("second"), hashOf("third")].map((hash) => isLive(one, hash));
    expect(live).toEqual([false, true, true]);
    expect(one.state.apiKeys!.deadHashes(one.now)).toEqual([secretOf()]);
  });

  test("that is repeated replaces the secret that nobody was shown; the one before stays as it was", () => {
    const one = living();
    added(one);
    rotated(one, FIRST, "unseen", { id: "R", overlapMs: HOUR });
    one.now += 1_000;
    rotated(one, FIRST, "shown", { id: "R", overlapMs: HOUR });
    const live = () => [secretOf(), hashOf("unseen"), hashOf("shown")].map((hash) => isLive(one, hash));
    expect(live()).toEqual([true, false, true]);
    one.now = NOON + HOUR;
    expect(live()).toEqual([false, false, true]);
  });

  test("of a disabled key leaves no former secret that enabling would give back", () => {
    const one = living();
    added(one);
    changed(one, FIRST, { status: false });
    rotated(one, FIRST, "second", { overlapMs: HOUR });
    changed(one, FIRST, { status: true });
    expect([isLive(one, secretOf()), isLive(one, hashOf("second"))]).toEqual([false, true]);
  });

  test("keeps caps, costs and id", () => {
    const one = living();
    added(one, { hardLimit: usd(2) });
    one.charge({ cost: usd(1.5), apiKey: FIRST });
    rotated(one, FIRST, "second");
    expect(one.state.apiKeys!.get(FIRST)!.spentInMonth(one.now)).toBe(usd(1.5));
  });

  test("for an addition that is repeated replaces its own secret only, which nobody was shown", () => {
    const one = living();
    const input = { type: "addApiKey", id: "A", settings: settingsOf(), ...BY_MAIN } as const;
    one.ask({ ...input, hash: hashOf("unseen") });
    const { reply, events } = one.ask({ ...input, hash: hashOf("shown") }, { done: true });
    const { id, hash } = (reply as AddedApiKey).row;
    expect([id, hash, events]).toEqual([FIRST, hashOf("unseen"), undefined]);
    rotated(one, FIRST, "shown", { id: "A", replacesOwnOnly: true });
    expect([isLive(one, hashOf("unseen")), isLive(one, hashOf("shown"))]).toEqual([false, true]);
    rotated(one, FIRST, "other");
    const again = rotated(one, FIRST, "late", { id: "A", replacesOwnOnly: true });
    expect([again.refused?.code, isLive(one, hashOf("other"))]).toEqual(["key_not_found", true]);
    expect(account.dedupIdOf({ ...input, hash: "" })).toBe("A");
  });
});

describe("who touches a key", () => {
  test("is the account's main key, a key with manage, or an ancestor; never a stranger, and never a key itself", () => {
    const one = living();
    const manager = added(one, { name: "manager", scopes: ["manage"] });
    const by = ownKey(one, manager);
    const other = added(one, { name: "other", scopes: ["manage"] }, by);
    expect(changed(one, other, { tags: { a: "b" } }, by).refused).toBeUndefined();
    expect(changed(one, manager, { tags: { a: "b" } }, by).refused?.code).toBe("field_not_settable");
    expect(tryToAdd(one, { scopes: ["invoke"] }, by).refused?.code).toBe("scope_missing");
    for (const parent of [1, 2])
      expect(rotated(one, other, `by-${parent}`, {}, above(parent)).refused).toBe(undefined);
    expect(deleted(one, other, above(3)).refused?.code).toBe("user_not_found");
  });

  test("is the main key of an Owner that was moved below another, also where the key has admin still", () => {
    const one = living({ profile: { parent: 1 as AccountId, dna: ".1." } });
    const scopes = ["manage", "admin"] as const;
    const [first, second] = [added(one, { scopes }), added(one, { name: "other", scopes })];
    moved(one, 4, ".1.4.");
    expect(rotated(one, first, "again").refused?.code).toBe("scope_missing");
    expect(deleted(one, first, ownKey(one, second)).refused).toBeUndefined();
    expect(deleted(one, second).refused).toBeUndefined();
    expect([secretOf(), secretOf("other")].map((hash) => isLive(one, hash))).toEqual([false, false]);
  });

  test("is judged by what the calling key is now, not by what it was when it was identified", () => {
    const one = living();
    const manager = added(one, { name: "manager", scopes: ["manage", "invoke"] });
    const by = ownKey(one, manager);
    changed(one, manager, { scopes: ["manage"] });
    expect(tryToAdd(one, {}, by).refused?.code).toBe("scope_missing");
    changed(one, manager, { status: false });
    expect(tryToAdd(one, { scopes: ["manage"] }, by).refused?.code).toBe("invalid_api_key");
  });

  test("hands on its own addresses and end, also by a rotation or an enabling", () => {
    const one = living();
    const bounds = { allowIps: ["10.0.0.0/8"], expiresAt: NOON + DAY };
    const manager = added(one, { name: "manager", scopes: ["manage"], ...bounds });
    const wide = added(one, { name: "wide", scopes: ["manage"] });
    const by = ownKey(one, manager);
    const found = [
      tryToAdd(one, { name: "n", scopes: ["manage"] }, by),
      changed(one, wide, { status: true }, by),
      rotated(one, wide, "new", {}, by),
      tryToAdd(one, { name: "n", scopes: ["manage"], ...bounds }, by),
      changed(one, wide, bounds, by),
      rotated(one, wide, "new", {}, by),
    ];
    const wrong = "invalid_parameter";
    expect(found.map(({ refused }) => refused?.code ?? null)).toEqual([
      wrong,
      wrong,
      wrong,
      null,
      null,
      null,
    ]);
  });
});

describe("a move", () => {
  const DEEP = { parent: 3 as AccountId, dna: ".1.2.3." };

  test("disables the keys that a former ancestor made, in its own event, and leaves the others", () => {
    const one = living({ profile: DEEP });
    const [own, byParent, byOwner] = [
      added(one, { name: "own" }),
      added(one, { name: "by-parent" }, above(3)),
      added(one, { name: "by-owner" }, above(2)),
    ];
    moved(one, 4, ".1.2.4.");
    const statuses = [own, byParent, byOwner].map((id) => one.state.apiKeys!.get(id)!.key.status);
    expect(statuses).toEqual([true, false, true]);
    expect(one.events.at(-1)!.e.type).toBe("moved");
    expect(isLive(one, secretOf("by-parent"))).toBe(false);
  });

  test("disables a key that such an account merely rotated, with both secrets", () => {
    const one = living({ profile: DEEP });
    added(one);
    rotated(one, FIRST, "by-parent", { overlapMs: DAY }, above(3));
    rotated(one, FIRST, "own", { overlapMs: DAY });
    moved(one, 4, ".1.2.4.");
    expect(one.state.apiKeys!.get(FIRST)!.key.status).toBe(false);
    changed(one, FIRST, { status: true });
    const live = [hashOf("by-parent"), hashOf("own")].map((hash) => isLive(one, hash));
    expect(live).toEqual([false, true]);
  });

  test("leaves a key whose secret was shown to the former ancestor disabled until it is rotated, without overlap", () => {
    const one = living({ profile: DEEP });
    added(one, {}, above(3));
    moved(one, 4, ".1.2.4.");
    expect(changed(one, FIRST, { status: true }).refused?.code).toBe("invalid_parameter");
    rotated(one, FIRST, "own", { overlapMs: DAY });
    expect(changed(one, FIRST, { status: true }).refused).toBeUndefined();
    expect([isLive(one, secretOf()), isLive(one, hashOf("own"))]).toEqual([false, true]);
  });

  test("disables the keys that a former ancestor made or rotated by a key of the account's that it knew", () => {
    const one = living({ profile: DEEP });
    const scopes = ["invoke", "manage"] as const;
    const manager = added(one, { name: "by-parent", scopes }, above(3));
    added(one, { name: "own", scopes });
    const known = ownKey(one, manager);
    const laundered = added(one, { name: "laundered", scopes }, known);
    // The former secret of an overlap is known as long as it is good.
    rotated(one, manager, "own-manager", { overlapMs: DAY });
    const seen = added(one, { name: "seen" }, known);
    added(one, { name: "by-its-key", scopes }, ownKey(one, laundered));
    rotated(one, added(one, { name: "rotated" }), "rotated-by-parent", {}, ownKey(one, laundered));
    const ofOwn = added(one, { name: "of-own" }, ownKey(one, manager));
    moved(one, 4, ".1.2.4.");
    const enabled = [...one.state.apiKeys!.all()].filter(({ key }) => key.status).map(({ key }) => key.name);
    expect(enabled).toEqual(["own", "of-own"]);
    expect(isLive(one, secretOf("of-own"))).toBe(true);
    expect([seen, ofOwn].map((id) => one.state.apiKeys!.get(id)!.key.createdBy)).toEqual([
      7, 7,
    ] as AccountId[]);
    expect(changed(one, laundered, { status: true }).refused?.code).toBe("invalid_parameter");
  });

  test("gives nothing back of a key that was disabled before, and rotated while a former ancestor knew its secret", () => {
    const one = living({ profile: DEEP });
    added(one, {}, above(3));
    changed(one, FIRST, { status: false });
    rotated(one, FIRST, "own", { overlapMs: DAY });
    moved(one, 4, ".1.2.4.");
    changed(one, FIRST, { status: true });
    expect([isLive(one, secretOf()), isLive(one, hashOf("own"))]).toEqual([false, true]);
  });
});

describe("a snapshot", () => {
  test("keeps keys, secrets, uses, deletions and counts", () => {
    const one = living();
    const caps = { hardLimit: usd(2), rpm: 3, allowModels: ["m"], expiresAt: NOON + 2 * DAY };
    added(one, { ...caps, name: `it's "one"`, scopes: ["read", "invoke"], tags: { team: "a" } });
    added(one, { name: "gone" });
    deleted(one, 2 as ApiKeyId);
    rotated(one, FIRST, "second", { overlapMs: HOUR });
    rotated(one, FIRST, "third", { overlapMs: HOUR });
    one.charge({ cost: usd(1), apiKey: FIRST });
    const list = () => one.ask({ type: "apiKeys" }).reply as ApiKeyList;
    const [before, hashes] = [list(), one.state.apiKeys!.hashes()];
    const frozen = JSON.stringify(account.freeze(one.state));
    thawed(one);
    expect(JSON.stringify(account.freeze(one.state))).toBe(frozen);
    expect(one.state.apiKeys!.nextDeathAt).toBe(0);
    expect(list()).toEqual(before);
    expect(one.state.apiKeys!.hashes()).toEqual(hashes);
    expect(one.state.apiKeys!.madeOn(one.now)).toBe(4);
    expect(answer(one, secretOf("gone"))?.message).toContain("deleted");
    expect([hashOf("second"), hashOf("third")].map((hash) => isLive(one, hash))).toEqual([true, true]);
    expect(added(one, { name: "next" })).toBe(3 as ApiKeyId);
  });
});
