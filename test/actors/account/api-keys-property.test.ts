// Over random trees with keys, caps, rotations and moves, under requests that run together, fail, and lose their account's
// memory: no key is admitted above its caps, no dead secret opens anything, and what keys cost adds up to their account's.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Admitted } from "../../../actors/account/admit.ts";
import type { ApiKeyList } from "../../../actors/account/api-key-list.ts";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { MAIN_API_KEY } from "../../../actors/ids.ts";
import type { Nano } from "../../../actors/money.ts";
import { dayOf, monthOf } from "../../../actors/time.ts";
import { admitInput, DAY, factsOf } from "../account-samples.ts";
import { type AccountTree, accountTree } from "../account-tree.ts";
import { callerOf, hashOf, settingsOf } from "../api-key-samples.ts";

const ACTS = [
  ...["add", "cap", "rotate", "status", "expire", "remove", "move", "wait", "restart", "forget", "fee"],
  ...["admit", "admit", "admit", "admit", "admit", "charge", "charge", "cancel", "again"],
] as const;

interface Step {
  readonly act: (typeof ACTS)[number];
  readonly who: number;
  readonly which: number;
  readonly amount: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom(...ACTS),
  who: fc.nat(20),
  which: fc.nat(1_000),
  amount: fc.integer({ min: 1, max: 400 }),
});

/** A request that runs. */
interface Running {
  readonly account: number;
  readonly apiKey: ApiKeyId;
  readonly model: string;
  cost: number;
}

/** A secret as clients know it; `until` and `isOver` say until when it may be good. */
interface Secret {
  readonly account: number;
  readonly apiKey: ApiKeyId;
  readonly hash: string;
  until: number;
}

class World {
  readonly tree: AccountTree = accountTree();
  readonly running = new Map<string, Running>();
  readonly secrets: Secret[] = [];
  /** Charges and fees by account and key, with their time. */
  readonly spent: { account: number; apiKey: ApiKeyId; at: number; cost: number; isFee: boolean }[] = [];
  private made = 0;

  constructor() {
    this.tree.born(2, 1, 50_000 as Nano);
    for (const id of [3, 4]) this.tree.born(id, 2, 5_000 as Nano);
    for (const id of [5, 6]) this.tree.born(id, 3, 2_000 as Nano);
  }

  take({ act, who, which, amount }: Step): void {
    const account = 2 + (who % 5);
    const id = `x${++this.made}`;
    const { tree } = this;
    const mine = this.secrets.filter((one) => one.account === account);
    const secret = mine[which % Math.max(1, mine.length)];
    const open = [...this.running];
    switch (act) {
      case "add":
        this.add(account, id, which, amount);
        return;
      case "admit":
        this.admit(account, id, which % 4 === 0 ? undefined : secret, amount);
        return;
      case "again": {
        const [request, { account: of, apiKey }] = open[which % Math.max(1, open.length)] ?? [
          "",
          { account: 0 },
        ];
        if (of === 0) return;
        const last = this.secrets.findLast((one) => one.account === of && one.apiKey === apiKey);
        this.admit(of, request, last, amount, `model-of-${id}`);
        return;
      }
      case "charge":
      case "cancel": {
        const found = open[which % Math.max(1, open.length)];
        if (found !== undefined) this.end(found, act === "charge" ? amount : null);
        return;
      }
      case "fee": {
        const apiKey = secret?.apiKey ?? MAIN_API_KEY;
        const isThere = tree.of(account).state.apiKeys?.get(apiKey) !== undefined;
        const fee = amount % 50;
        const before = this.capsLeft(account, apiKey);
        const { refused } = tree.ask(account, { type: "fee", id, amount: fee as Nano, apiKey });
        if (refused !== undefined) return;
        if (isThere) expect(fee).toBeLessThanOrEqual(before);
        if (isThere) this.spent.push({ account, apiKey, at: tree.now, cost: fee, isFee: true });
        return;
      }
      case "wait":
        tree.now += amount % 3 === 0 ? DAY * (amount % 40) : amount * 100;
        for (const { account: of } of this.running.values()) this.renewAll(of);
        return;
      case "restart":
        this.restart(account, which % 3 === 0);
        return;
      case "forget": {
        const hashes = tree.of(account).state.apiKeys?.deadHashes(tree.now) ?? [];
        tree.ask(account, { type: "forgetSecrets", hashes });
        return;
      }
      case "move": {
        const to = 2 + (which % 5);
        const dna = `${tree.of(to).state.profile!.dna}${to}.`;
        const order = { id, bornAt: 0, to: to as AccountId, dna, by: 1 as AccountId };
        tree.ask(account, { type: "move", ...order }, id);
        tree.rest();
        return;
      }
      default:
        if (secret !== undefined) this.touch(act, secret, id, amount);
    }
  }

  /** The account itself calls, or its Owner. */
  private by(account: number, amount: number) {
    const caller = (amount % 3 === 0 ? 2 : account) as AccountId;
    return { by: callerOf({ account: caller }), byHash: String(account).padStart(64, "0") };
  }

  private add(account: number, id: string, which: number, amount: number): void {
    const { tree } = this;
    const settings = settingsOf({
      name: id,
      hardLimit: (which % 3 === 0 ? amount * 4 : 0) as Nano,
      dailyLimit: (which % 4 === 0 ? amount * 2 : 0) as Nano,
      rpm: which % 5 === 0 ? 1 + (amount % 4) : 0,
      tpm: which % 7 === 0 ? 100 + amount : 0,
    });
    const hash = hashOf(`secret-${id}`);
    const { events } = tree.ask(account, {
      type: "addApiKey",
      id,
      settings,
      hash,
      ...this.by(account, amount),
    });
    for (const event of events ?? []) {
      if (event.type !== "api_key_added") continue;
      this.secrets.push({ account, apiKey: event.key.id, hash, until: Number.POSITIVE_INFINITY });
    }
  }

  private touch(act: Step["act"], { account, apiKey, hash }: Secret, id: string, amount: number): void {
    const { tree } = this;
    const by = this.by(account, amount);
    const others = this.secrets.filter((one) => one.account === account && one.apiKey === apiKey);
    if (act === "rotate") {
      const overlapMs = amount % 2 === 0 ? amount * 500 : 0;
      const next = hashOf(`secret-${id}`);
      const input = { apiKey, id, hash: next, overlapMs, ...by };
      const { refused } = tree.ask(account, { type: "rotateApiKey", ...input });
      if (refused !== undefined) return;
      const newest = others.at(-1);
      for (const one of others) {
        one.until =
          one === newest ? Math.min(one.until, tree.now + overlapMs) : Math.min(one.until, tree.now);
      }
      this.secrets.push({ account, apiKey, hash: next, until: Number.POSITIVE_INFINITY });
      return;
    }
    if (act === "remove") {
      const { refused } = tree.ask(account, { type: "deleteApiKey", apiKey, ...by });
      if (refused === undefined) for (const one of others) one.until = tree.now;
      return;
    }
    const changes = {
      cap: { hardLimit: (amount * 3) as Nano, dailyLimit: (amount * 2) as Nano, rpm: amount % 5 },
      status: { status: amount % 2 === 0 },
      expire: { expiresAt: amount % 2 === 0 ? tree.now + amount * 1_000 : null },
    };
    const change = changes[act as keyof typeof changes];
    const { refused } = tree.ask(account, { type: "changeApiKey", apiKey, change, editedFrom: null, ...by });
    if (refused === undefined && "status" in change && !change.status) {
      for (const one of others) if (one !== others.at(-1)) one.until = Math.min(one.until, tree.now);
    }
    expect(hash).toHaveLength(64);
  }

  private admit(account: number, id: string, secret: Secret | undefined, amount: number, model = "m"): void {
    const { tree } = this;
    const { state } = tree.of(account);
    const keyHash = secret?.hash ?? String(account).padStart(64, "0");
    const former = this.running.get(id);
    const need = { cost: amount as Nano, promptCost: (amount >> 2) as Nano, version: state.version };
    if (former !== undefined) this.running.delete(id);
    const apiKey = former?.apiKey ?? secret?.apiKey ?? MAIN_API_KEY;
    const left = this.capsLeft(account, apiKey);
    const { reply, refused } = tree.ask(account, {
      type: "admit",
      ...admitInput({ id, keyHash, model, ...need }),
    });
    if (refused !== undefined) {
      if (former !== undefined) this.running.set(id, former);
      return;
    }
    const { cost, apiKey: usedKey } = reply as Admitted;
    expect(usedKey?.id ?? MAIN_API_KEY).toBe(apiKey);
    // Asked again for its own model, a request keeps its hold, also under a cap that was lowered since.
    if (former?.model !== model) expect(cost).toBeLessThanOrEqual(left);
    if (former === undefined && secret !== undefined) {
      const { status, expiresAt } = state.apiKeys!.get(apiKey)!.key;
      expect([status, expiresAt === null || expiresAt > tree.now]).toEqual([true, true]);
      expect(secret.until).toBeGreaterThan(tree.now);
    }
    this.running.set(id, { account, apiKey, model, cost });
  }

  /** What the key's caps leave, by the requests that this world knows to run and the charges that it made. */
  private capsLeft(account: number, apiKey: ApiKeyId): number {
    const { now } = this.tree;
    const key = this.tree.of(account).state.apiKeys?.get(apiKey)?.key;
    if (key === undefined) return Number.POSITIVE_INFINITY;
    let held = 0;
    for (const one of this.running.values()) {
      if (one.account === account && one.apiKey === apiKey) held += one.cost;
    }
    const own = this.spent.filter((one) => one.account === account && one.apiKey === apiKey);
    const sum = (period: (at: number) => string) =>
      own.reduce((total, { at, cost }) => total + (period(at) === period(now) ? cost : 0), 0);
    const left = [
      key.hardLimit === 0 ? Number.POSITIVE_INFINITY : key.hardLimit - sum(monthOf) - held,
      key.dailyLimit === 0 ? Number.POSITIVE_INFINITY : key.dailyLimit - sum(dayOf) - held,
    ];
    return Math.min(...left);
  }

  private end([id, { account, apiKey, cost }]: [string, Running], amount: number | null): void {
    const { tree } = this;
    this.running.delete(id);
    if (amount === null) {
      tree.ask(account, { type: "cancel", id, aborted: false });
      return;
    }
    const used = (amount % 5 === 0 ? amount : Math.min(amount, cost)) as Nano;
    const named = apiKey === MAIN_API_KEY ? {} : { apiKey, apiKeyName: `key-${apiKey}` };
    tree.ask(account, { type: "charge", ...factsOf({ id, cost: used, admittedAt: tree.now, ...named }) });
    this.spent.push({ account, apiKey, at: tree.now, cost: used, isFee: false });
  }

  /** The account is loaded anew; its front ends assert their holds again, or have gone too. */
  private restart(account: number, isLost: boolean): void {
    const { tree } = this;
    const holds = [...tree.of(account).state.volatile.holds.values()];
    tree.crash(account);
    if (isLost) {
      for (const [id, one] of this.running) if (one.account === account) this.running.delete(id);
      return;
    }
    const renewed = holds.map((hold) => ({ ...hold, expiresAt: tree.now + HOLD_TTL_MS }));
    tree.ask(account, { type: "reassertHolds", holds: renewed, ended: [] });
  }

  private renewAll(account: number): void {
    const holds = [...this.tree.of(account).state.volatile.holds.values()];
    const renewed = holds.map((hold) => ({ ...hold, expiresAt: this.tree.now + HOLD_TTL_MS }));
    this.tree.ask(account, { type: "reassertHolds", holds: renewed, ended: [] });
  }

  /** Costs of keys, live and deleted, and of the main key add up to the account's; holds of keys to the account's holds. */
  check(): void {
    for (const account of [2, 3, 4, 5, 6]) {
      const { state } = this.tree.of(account);
      const { main, keys } = this.tree.ask(account, { type: "apiKeys" }).reply as ApiKeyList;
      const own = this.spent.filter((one) => one.account === account && !one.isFee);
      const costOf = (apiKey: ApiKeyId) =>
        own.reduce((sum, one) => sum + (one.apiKey === apiKey ? one.cost : 0), 0);
      expect(main.costTotal).toBe(costOf(MAIN_API_KEY) as Nano);
      for (const { id, costTotal } of keys) expect([id, costTotal]).toEqual([id, costOf(id) as Nano]);
      expect(state.creditUsed).toBe(own.reduce((sum, { cost }) => sum + cost, 0) as Nano);
      const { holds, keyHolds } = state.volatile;
      for (const { id } of keys) {
        const open = [...holds.values()].filter(({ apiKey }) => apiKey === id);
        const held = open.reduce((sum, { cost }) => sum + cost, 0);
        expect([keyHolds?.get(id)?.count ?? 0, keyHolds?.get(id)?.cost ?? 0]).toEqual([open.length, held]);
      }
    }
  }
}

describe("over random trees with keys, requests, moves and restarts", () => {
  test("no key is admitted above its caps or with a dead secret, and keys add up to their account", () => {
    let admitted = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: "max" }), (drawn) => {
        const world = new World();
        for (const one of drawn) {
          world.take(one);
          world.check();
        }
        admitted += world.spent.filter(({ apiKey }) => apiKey !== MAIN_API_KEY).length;
      }),
      { numRuns: 150, endOnFailure: true },
    );
    expect(admitted).toBeGreaterThan(100);
  });
});
