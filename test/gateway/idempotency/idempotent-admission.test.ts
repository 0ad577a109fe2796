// A request with an Idempotency-Key is admitted once: idempotencyRecords wait for the first until its answer is kept and its charge
// stored, also when the account has forgotten it, when its charge is late, and after a restart.

import { describe, expect, test } from "bun:test";
import { INVALID_KEY } from "../../../actors/account/authenticate.ts";
import { type AccountId, MAIN_API_KEY, type ProviderKeyId } from "../../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../../actors/index.ts";
import { ZERO } from "../../../actors/money.ts";
import { RefusedError, UnavailableError } from "../../../src/base/errors.ts";
import { silent } from "../../../src/base/log.ts";
import { memoryBus } from "../../../src/bus/memory.ts";
import type { AccountContext } from "../../../src/gateway/account/account-context.ts";
import type { ConfigCache } from "../../../src/gateway/account/config-cache.ts";
import { createAutoQuota } from "../../../src/gateway/admission/auto-quota.ts";
import type { ChargeSpool, SpooledCharge } from "../../../src/gateway/admission/charge-spool.ts";
import { createSettlement } from "../../../src/gateway/admission/settlement.ts";
import {
  createIdempotencyRecords,
  type KeptResponse,
} from "../../../src/gateway/idempotency/idempotency-records.ts";
import {
  createIdempotentAdmission,
  type IdempotentAdmissionParts,
} from "../../../src/gateway/idempotency/idempotent-admission.ts";
import { createInProgressKeys } from "../../../src/gateway/idempotency/in-progress-keys.ts";
import { createRequestDeadlines, RequestLifetime } from "../../../src/gateway/request-lifetime.ts";
import { createSingleNodePlacement } from "../../../src/runtime/placement/single-node.ts";
import { createSystem } from "../../../src/runtime/system.ts";
import { createSecretVault } from "../../../src/upstream/secret-vault.ts";
import { factsOf, KEY, usd } from "../../actors/account-samples.ts";
import { faultyStore } from "../../runtime/faulty-store.ts";
import { countingRandom, manualClock, settled } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { bodyOf, CHAT, sizeOf } from "../request-samples.ts";

const ROOT = 1 as AccountId;
const ANSWER: KeptResponse = { body: '{"id":"chatcmpl-1"}', headers: { "x-arbor-cost": "0.5" } };
const MODEL = "gpt-4o-mini";

/** Appends that come to nothing, more than a test waits for. */
const STORE_DOWN = Array.from({ length: 2_000 }, () => "unknown" as const);

const VIEW = {
  id: "1.0",
  version: 1,
  members: 1,
  keys: [
    {
      id: 1 as ProviderKeyId,
      level: 0,
      provider: "https://x.example",
      secret: null,
      config: {},
      state: "normal",
    },
  ],
  health: [],
  switchedUntil: 0,
};

/** Root's account on a faulty store, with a Level that serves everything. */
async function rig() {
  const clock = manualClock();
  const store = faultyStore(memoryStore({ clock }));
  const system = createSystem<Protocol>({
    store,
    bus: memoryBus(),
    clock,
    random: countingRandom(),
    placement: createSingleNodePlacement({ registry: store, node: "n" }),
    behaviors,
    log: silent,
  });
  await system.start();
  await system.ask(actorRef.account(ROOT), "createRoot", { keyHash: KEY });
  await settled();
  const spooled = new Map<string, SpooledCharge>();
  const spool: ChargeSpool = {
    keep: async (late) => void spooled.set(late.facts.id, late),
    forget: async (id) => void spooled.delete(id),
    all: async () => [...spooled.values()],
  };
  const vault = createSecretVault(Buffer.from("k".repeat(32)).toString("base64"), null);
  const idempotencyRecords = createIdempotencyRecords({ store, vault, clock, log: silent });
  const configs = {
    async accountContext(): Promise<AccountContext> {
      const { profile, version } = await system.ask(actorRef.account(ROOT), "profile", {});
      return accountContextOf({ chain: [profile], version });
    },
    level: () => VIEW,
  } as unknown as ConfigCache;

  /** The gateway's part in a process; `over`: what is different there. */
  function start(over: Partial<IdempotentAdmissionParts> = {}) {
    const settlement = createSettlement({ system, spool, clock, log: silent, chargeWaitMs: 5_000 });
    const build = () =>
      createIdempotentAdmission({
        ...{ system, idempotencyRecords, settlement, configs, limits: { holdOutputTokens: 10 } },
        upstream: { lacks: () => false },
        autoQuota: createAutoQuota({ system, clock }),
        ...over,
      });
    return { settlement, build };
  }
  const { settlement, build } = start();
  const once = build();

  const asked = (key: string, body = "{}") =>
    idempotencyRecords.hashes(CHAT.path, key, bodyOf(body), MAIN_API_KEY);
  const deadlines = createRequestDeadlines(clock, 600_000);
  /** A request, and what became of its admission so far. */
  function ask(
    id: string,
    { key = "k", body = "{}", by = once, keyHash = KEY, signal = new AbortController().signal } = {},
  ) {
    const caller = { account: ROOT, keyHash };
    const ip = () => "";
    const input = { id, endpoint: CHAT, caller, ip, requested: { model: MODEL, size: sizeOf() } };
    const request = { path: CHAT.path, name: key, payload: bodyOf(body), ip };
    const seen: { what: string } = { what: "waits" };
    const admitted = by
      .hashes(caller, request)
      .then((idempotency) =>
        by.admit({ ...input, idempotency }, new RequestLifetime(signal, clock, deadlines)),
      );
    admitted.then(
      (granted) => {
        seen.what = "body" in granted ? `answer ${granted.body}` : "runs";
      },
      (error) => {
        if (error instanceof RefusedError) seen.what = error.refusal.code;
        else seen.what = error instanceof UnavailableError ? "unavailable" : String(error);
      },
    );
    return seen;
  }
  const charge = (id: string, key = "k") =>
    settlement.charge(ROOT, factsOf({ id, cost: usd(1), model: MODEL, idempotency: asked(key) }));
  const held = async () => (await system.ask(actorRef.account(ROOT), "read", {})).held;
  return {
    clock,
    store,
    system,
    settlement,
    idempotencyRecords,
    once,
    start,
    ask,
    asked,
    charge,
    held,
    spooled,
  };
}

describe("a repeat", () => {
  test("waits while the first runs, and gets its answer when that is kept and charged", async () => {
    const { clock, once, idempotencyRecords, ask, asked, charge } = await rig();
    const first = ask("a");
    await settled();
    const repeat = ask("b");
    await clock.advance(60_000);
    expect([first.what, repeat.what]).toEqual(["runs", "waits"]);
    // Charged, and its answer is not kept yet: too early to say that there is none.
    await charge("a");
    await clock.advance(900);
    expect(repeat.what).toBe("waits");
    await idempotencyRecords.keep(ROOT, asked("k"), "a", ANSWER);
    once.answered("a");
    await settled();
    expect(repeat.what).toBe(`answer ${ANSWER.body}`);
    const later = ask("c");
    await settled();
    expect(later.what).toBe(`answer ${ANSWER.body}`);
  });

  test("of somebody below an account that is being deleted gets no answer, not even the kept one", async () => {
    const { once, idempotencyRecords, start, ask, asked, charge } = await rig();
    ask("a");
    await settled();
    await charge("a");
    await idempotencyRecords.keep(ROOT, asked("k"), "a", ANSWER);
    once.answered("a");
    const configs = {
      accountContext: () => Promise.reject(new RefusedError(INVALID_KEY)),
    } as unknown as ConfigCache;
    const repeat = ask("b", { by: start({ configs }).build() });
    await settled();
    expect(repeat.what).toBe("invalid_api_key");
  });

  test("hears at once that the first is over, without asking again and again", async () => {
    const { clock, settlement, once, ask, store } = await rig();
    ask("a");
    await settled();
    const looks: string[] = [];
    const { commitsByDedupId } = store;
    Object.assign(store, {
      byMark: (mark: string, limit: number) => {
        looks.push(mark);
        return commitsByDedupId(mark, limit);
      },
    });
    const repeat = ask("b");
    await clock.advance(10_000);
    expect(looks.length).toBeLessThan(15);
    settlement.cancel(ROOT, "a", false);
    once.answered("a");
    await settled();
    expect(repeat.what).toBe("runs");
  });

  test("with another body is a mismatch, while the first runs and afterwards", async () => {
    const { once, ask, charge } = await rig();
    ask("a");
    await settled();
    const during = ask("b", { body: "{1}" });
    await settled();
    await charge("a");
    once.answered("a");
    const after = ask("c", { body: "{1}" });
    await settled();
    expect([during.what, after.what]).toEqual(["idempotency_mismatch", "idempotency_mismatch"]);
  });

  test("with another body waits for the end of one that gives its hold back, and runs then", async () => {
    const { clock, settlement, once, ask } = await rig();
    ask("a");
    await settled();
    const free = settlement.cancel(ROOT, "a", false);
    const during = ask("b", { body: "{1}" });
    expect(during.what).toBe("waits");
    once.answered("a");
    await clock.advance(5_000);
    expect([await free, during.what]).toEqual([true, "runs"]);
  });

  test("with another body waits for the end of one whose client has left", async () => {
    const { clock, settlement, once, ask } = await rig();
    const client = new AbortController();
    ask("a", { signal: client.signal });
    await settled();
    client.abort();
    const after = ask("b", { body: "{1}" });
    await settled();
    expect(after.what).toBe("waits");
    void settlement.cancel(ROOT, "a", true);
    once.answered("a");
    await clock.advance(5_000);
    expect(after.what).toBe("runs");
  });

  test("runs when the first ended without a charge; only one of many does", async () => {
    const { clock, settlement, once, ask } = await rig();
    ask("a");
    await settled();
    const many = Array.from({ length: 20 }, (_, i) => ask(`b${i}`));
    await settled();
    settlement.cancel(ROOT, "a", true);
    once.answered("a");
    await clock.advance(5_000);
    expect(many.filter(({ what }) => what === "runs")).toHaveLength(1);
    expect(many.filter(({ what }) => what === "waits")).toHaveLength(19);
  });

  test("under another key, or of another account's key, waits for nobody", async () => {
    const { ask } = await rig();
    ask("a");
    await settled();
    const other = ask("b", { key: "other" });
    await settled();
    expect(other.what).toBe("runs");
  });

  test("of a stranger who has a wrong key learns nothing", async () => {
    const { once, idempotencyRecords, ask, asked, charge } = await rig();
    ask("a");
    await settled();
    await charge("a");
    await idempotencyRecords.keep(ROOT, asked("k"), "a", ANSWER);
    once.answered("a");
    const stranger = ask("b", { keyHash: "0".repeat(64) });
    await settled();
    expect(stranger.what).toBe("invalid_api_key");
  });

  test("gives up when its client does, and leaves the key as it was", async () => {
    const { clock, ask } = await rig();
    ask("a");
    await settled();
    const leaving = new AbortController();
    const repeat = ask("b", { signal: leaving.signal });
    await clock.advance(2_000);
    leaving.abort();
    await settled();
    expect(repeat.what).toBe("service_unavailable");
    const other = ask("c");
    await clock.advance(5_000);
    expect(other.what).toBe("waits");
  });
});

describe("the first is waited for", () => {
  test("also when the account has forgotten its hold", async () => {
    const { clock, store, system, ask, charge, once, held } = await rig();
    ask("a");
    await settled();
    // An append that is lost breaks the activation, and with it goes what it held, until it is reasserted.
    store.faults.push("lost");
    void charge("z", "of another");
    await clock.advance(3_000);
    expect(await held()).not.toBe(ZERO);
    await system.ask(actorRef.account(ROOT), "reassertHolds", { holds: [], ended: ["a"] });
    expect(await held()).toBe(ZERO);
    const repeat = ask("b");
    await clock.advance(30_000);
    expect(repeat.what).toBe("waits");
    void charge("a");
    once.answered("a");
    await clock.advance(2_000);
    expect(repeat.what).toBe("idempotency_expired");
  });

  test("until its late charge is stored", async () => {
    const { clock, store, once, ask, charge, spooled } = await rig();
    ask("a");
    await settled();
    store.faults.push(...STORE_DOWN);
    void charge("a");
    await clock.advance(6_000);
    once.answered("a");
    expect([...spooled.keys()]).toEqual(["a"]);
    const repeat = ask("b");
    await clock.advance(20_000);
    expect(repeat.what).toBe("waits");
    store.faults.length = 0;
    await clock.advance(30_000);
    expect(spooled.size).toBe(0);
    expect(repeat.what).toBe("idempotency_expired");
  });

  test("when an earlier process left its charge in the spool", async () => {
    const { clock, store, start, ask, asked, spooled } = await rig();
    const facts = factsOf({ id: "a", cost: usd(1), idempotency: asked("k") });
    spooled.set("a", { account: ROOT, bornAt: clock.wall(), facts });
    store.faults.push(...STORE_DOWN);
    const { settlement, build } = start();
    await settlement.replay();
    const by = build();
    const repeat = ask("b", { by });
    await clock.advance(20_000);
    expect(repeat.what).toBe("waits");
    store.faults.length = 0;
    await clock.advance(30_000);
    expect(repeat.what).toBe("idempotency_expired");
  });

  test("when it runs where only the account knows of it", async () => {
    const { clock, start, ask, charge } = await rig();
    const elsewhere = start().build();
    ask("a");
    await settled();
    const repeat = ask("b", { by: elsewhere });
    await clock.advance(20_000);
    expect(repeat.what).toBe("waits");
    await charge("a");
    await clock.advance(1_500);
    expect(repeat.what).toBe("idempotency_expired");
  });
});

describe("nothing stays behind", () => {
  test("when the first was charged between look-up and admission: the hold goes back, its answer is given", async () => {
    const { start, ask, held, idempotencyRecords } = await rig();
    let looks = 0;
    const find = async () =>
      ++looks === 1 ? ({ kind: "none" } as const) : ({ kind: "answer", ...ANSWER } as const);
    const by = start({ idempotencyRecords: { ...idempotencyRecords, find } }).build();
    const repeat = ask("b", { by });
    await settled();
    expect([repeat.what, looks]).toEqual([`answer ${ANSWER.body}`, 2]);
    expect(await held()).toBe(ZERO);
  });

  test.each([1, 2])(
    "when the ledger cannot be read (look-up %d): unavailable, and the next may run",
    async (bad) => {
      const { clock, start, ask, held, idempotencyRecords } = await rig();
      let looks = 0;
      const find = async () => {
        if (++looks === bad) throw new Error("the store is gone");
        return { kind: "none" } as const;
      };
      const by = start({ idempotencyRecords: { ...idempotencyRecords, find } }).build();
      const one = ask("b", { by });
      await settled();
      expect(one.what).toBe("unavailable");
      expect(await held()).toBe(ZERO);
      const next = ask("c", { by });
      await clock.advance(2_000);
      expect(next.what).toBe("runs");
    },
  );
});

describe("requests under way", () => {
  const one = { key: "k", body: "b" };
  const goesOn = () => false;

  test("have a key until they are answered and settled, in either order", async () => {
    for (const order of [
      ["answered", "settled"],
      ["settled", "answered"],
    ] as const) {
      const underWay = createInProgressKeys();
      expect(underWay.take("a", ROOT, one, goesOn)).toBeNull();
      expect(underWay.take("a", ROOT, one, goesOn)).toBeNull();
      const first = underWay.take("b", ROOT, one, goesOn);
      expect(first?.body).toBe("b");
      underWay[order[0]]("a");
      expect(underWay.take("b", ROOT, one, goesOn)).not.toBeNull();
      underWay[order[1]]("a");
      await first!.freed;
      expect(underWay.take("b", ROOT, one, goesOn)).toBeNull();
    }
  });

  test("of two accounts may have the same key", () => {
    const underWay = createInProgressKeys();
    expect(underWay.take("a", ROOT, one, goesOn)).toBeNull();
    expect(underWay.take("b", 2 as AccountId, one, goesOn)).toBeNull();
  });

  test("are bounded: the oldest is forgotten, and requests that wait for it are answered", async () => {
    const underWay = createInProgressKeys(2);
    underWay.take("a", ROOT, { key: "1", body: "" }, goesOn);
    const first = underWay.take("z", ROOT, { key: "1", body: "" }, goesOn);
    underWay.take("b", ROOT, { key: "2", body: "" }, goesOn);
    underWay.take("c", ROOT, { key: "3", body: "" }, goesOn);
    await first!.freed;
    expect(underWay.take("z", ROOT, { key: "2", body: "" }, goesOn)).not.toBeNull();
    underWay.drop("nobody");
  });
});
