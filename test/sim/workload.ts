// What clients do with the tree: requests that are admitted, run, grow, move to another
// model, and end by a charge, a cancellation or not at
// all; charges repeated until acknowledged, and delivered again long afterwards; reads in between.

import type { AdmitInput, Admitted, StaleProfile } from "../../actors/account/admit.ts";
import type { ChargeFacts } from "../../actors/account/state.ts";
import { actorRef } from "../../actors/index.ts";
import { toNano, ZERO } from "../../actors/money.ts";
import { NO_USAGE } from "../../actors/pricing/usage.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { ApiKeyTraffic } from "./api-keys.ts";
import type { Checkers } from "./checkers.ts";
import { type Clients, GaveUp } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import { createAtHome, Forsaken } from "./front-end-requests.ts";
import type { Load } from "./load.ts";
import type { SimNode } from "./node.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";
import { type KnownAccount, MODELS, REQUEST_COST, type Tree } from "./tree.ts";

const FOR_EVER = Number.POSITIVE_INFINITY;
/** So that what began before the faults stopped can end well within the time to settle, with all its moves. */
const THINK_MOST_MS = 20_000;
const MOVES_MOST = 3;
const NANO_PER_PROMPT_TOKEN = 500;
const NANO_PER_OUTPUT_TOKEN = 2_000;

/** What a request is sent with. */
const FIRST = "the first request";

/** What a request needs of one model, and whose it is. */
type Need = Pick<
  AdmitInput,
  "id" | "keyHash" | "model" | "promptTokens" | "outputTokens" | "cost" | "promptCost"
>;

export type Errands = Readonly<Record<string, () => Promise<void>>>;

export function createWorkload(parts: {
  errands: Errands;
  /** The traffic that changes configurations, maps and keys. */
  configuring: Errands;
  apiKeys: ApiKeyTraffic;
  clients: Clients;
  tree: Tree;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
  load: Load;
  checkers: Checkers;
}): { start(): void } {
  const { clients, tree, world, random, trace, load, checkers } = parts;
  const ids = random.fork().forRuntime(world);
  const atHome = createAtHome({ clients, checkers, trace, world });
  /** Acknowledged charges by account: what a later read must show. */
  const acked = new Map<number, number>();
  /** The profile's version that a front end knows. */
  const versions = new Map<number, number>();
  const pause = (ms: number) => new Promise<void>((resolve) => void world.after(ms, resolve));

  function account(): KnownAccount {
    const { known } = tree;
    if (known.length === 1 || random.chance(0.02)) return known[0]!;
    return known[1 + Math.floor((known.length - 1) * random.unit() ** load.hot)]!;
  }

  async function request(): Promise<void> {
    const asking = account();
    const { id: of } = asking;
    const keyHash = parts.apiKeys.secretFor(asking);
    const id = ids.id();
    let need = needOf();
    const first = await admit(of, { id, keyHash, ...need });
    const { home, apiKey } = first;
    let { admittedAt } = first;
    await pause(Math.min(THINK_MOST_MS, random.pause(load.thinkMs)));
    for (let moves = 0; moves < MOVES_MOST && random.chance(load.moved); moves++) {
      const other = needOf();
      const moved = await admit(of, { id, keyHash, ...other }, home).catch(refusedOrGivenUp);
      if (moved === null) continue;
      need = other;
      admittedAt = moved.admittedAt;
      await pause(Math.min(THINK_MOST_MS, random.pause(load.thinkMs)));
    }
    const { model, promptTokens, outputTokens, promptCost } = need;

    const end = random.unit();
    if (end < load.abandoned && home === null) return trace.count("abandoned");
    if (end < load.abandoned + load.cancelled) return cancel(of, { id, keyHash, ...need }, home);

    const beyond = random.chance(load.beyond);
    const completion = Math.round(outputTokens * random.unit() * (beyond ? 3 : 1));
    const used = toNano(promptCost + completion * NANO_PER_OUTPUT_TOKEN);
    if (beyond && random.chance(load.renewed)) {
      const need = { id, cost: used, tokens: promptTokens + completion };
      if (home?.alive()) atHome.renew(home, of, need);
      else {
        await clients
          .reach("renew", 1, (node) => node.system.ask(actorRef.account(of), "renew", need))
          .catch(ignored);
      }
      await pause(Math.min(THINK_MOST_MS, random.pause(load.thinkMs)));
    }
    await charge(
      of,
      {
        id,
        request: random.chance(0.5) ? id : `client-${id}`,
        path: "/v1/chat/completions",
        asked: model,
        model,
        level: 0,
        usage: { ...NO_USAGE, inText: promptTokens, outText: completion },
        prompt: promptTokens,
        completion,
        cost: used,
        basis: "provider",
        price: null,
        priceVersion: 0,
        admittedAt,
        stream: false,
        attempts: [],
        keep: toNano(random.chance(0.5) ? REQUEST_COST : 0),
        ...(apiKey && { apiKey: apiKey.id, apiKeyName: apiKey.name }),
      },
      home,
    );
  }

  /** What a request needs of one model. */
  function needOf(): Omit<Need, "id" | "keyHash"> {
    const promptTokens = Math.round(random.spread(10, 1_000));
    const outputTokens = Math.round(random.spread(10, 2_000));
    const promptCost = toNano(promptTokens * NANO_PER_PROMPT_TOKEN);
    const cost = toNano(promptCost + outputTokens * NANO_PER_OUTPUT_TOKEN);
    return { model: random.pick(MODELS), promptTokens, outputTokens, cost, promptCost };
  }

  async function admit(
    of: KnownAccount["id"],
    need: Need,
    home: SimNode | null = null,
  ): Promise<Admitted & { readonly home: SimNode | null }> {
    const { id } = need;
    const bornAt = world.wall();
    const input = () => inputOf(of, need, FIRST);
    const once = (): Promise<(Admitted & { readonly home: SimNode | null }) | StaleProfile> => {
      const tries = random.between(1, 4);
      const options = () => ({ id, bornAt, budgetMs: random.between(200, 5_000) });
      if (clients.homes) return atHome.admit(of, input(), options(), home);
      return clients.reach("admit", tries, async (node) => ({
        ...(await node.system.ask(actorRef.account(of), "admit", input(), options())),
        home: null,
      }));
    };
    // A route made from an old profile is made anew, once, as the gateway does.
    const first = await once();
    if (!("stale" in first)) return first;
    versions.set(of, first.stale.version);
    const second = await once();
    if ("stale" in second) throw new RefusedError({ code: "stale_profile", message: "" });
    return second;
  }

  /** In a cluster every request has an Idempotency-Key of its own; `body`: what it was sent with. */
  function inputOf(of: KnownAccount["id"], need: Need, body: string): AdmitInput {
    const none = { ip: "", path: "/v1/chat/completions", routing: null, modelLimits: null, threshold: ZERO };
    const idempotency = clients.homes ? { key: `key of ${need.id}`, body } : null;
    return { ...need, ...none, idempotency, version: versions.get(of) ?? 1 };
  }

  /** Another model was not to be had: the request goes on with the one it has. */
  function refusedOrGivenUp(error: unknown): null {
    if (!(error instanceof RefusedError || error instanceof GaveUp) || error instanceof Forsaken) throw error;
    trace.count("move failed");
    return null;
  }

  async function cancel(of: KnownAccount["id"], need: Need, home: SimNode | null): Promise<void> {
    const { id } = need;
    const bornAt = world.wall();
    const input = { id, aborted: random.chance(0.3) };
    if (home?.alive()) {
      if (await atHome.cancel(home, of, id, input.aborted)) {
        const anew = inputOf(of, need, "another request");
        await atHome.usedAnew(of, { ...anew, id: `${id}:anew` });
      }
      return;
    }
    const options = { id: `${id}:x`, bornAt };
    await clients.reach("cancel", random.between(1, 5), (node) =>
      node.system.ask(actorRef.account(of), "cancel", input, options),
    );
    trace.count("cancelled");
  }

  async function charge(of: KnownAccount["id"], facts: ChargeFacts, home: SimNode | null): Promise<void> {
    const bornAt = world.wall();
    const mine = { id: facts.id, account: of, cost: facts.cost };
    const settled = random.chance(load.settled);
    if (home?.alive()) await atHome.charge(home, of, facts);
    else if (settled && home !== null) throw new GaveUp("settle");
    else if (settled) {
      // The client of a gateway that crashed has no complete answer, and nobody else asks again.
      await clients.reach("settle", 1, (node) => node.settle.charge(of, facts));
      checkers.ledger.promised(mine);
      trace.count("charges settled");
    } else {
      const options = { id: facts.id, bornAt, budgetMs: random.between(100, 5_000) };
      await clients.reach("charge", FOR_EVER, (node) =>
        node.system.ask(actorRef.account(of), "charge", facts, options),
      );
      checkers.ledger.acked(mine);
      acked.set(of, (acked.get(of) ?? 0) + facts.cost);
      trace.count("charges acked");
    }
    if (random.chance(load.duplicated)) clients.spawn("duplicate", () => again(of, facts, bornAt));
  }

  async function again(of: KnownAccount["id"], facts: ChargeFacts, bornAt: number): Promise<void> {
    const wait = random.chance(load.muchLater) ? 1_200_000 : random.pick([0, 100, 3_000, 30_000, 120_000]);
    await pause(random.unit() * 1_000 + wait);
    await clients.reach("duplicate", FOR_EVER, (node) =>
      node.system.ask(actorRef.account(of), "charge", facts, { id: facts.id, bornAt }),
    );
    trace.count(`duplicate after ${wait} ms`);
  }

  /** What a read shows is durable, and not older than what was acknowledged before it was asked. */
  async function read(): Promise<void> {
    const { id } = account();
    const least = acked.get(id) ?? 0;
    const { creditUsed } = await clients.reach("read", 3, (node) =>
      node.system.ask(actorRef.account(id), "read", {}),
    );
    const stored = checkers.ledger.charged(id);
    if (creditUsed < least || creditUsed > stored) {
      trace.violate(
        "2 once",
        `a read of account ${id} shows ${creditUsed}; acked ${least}, stored ${stored}`,
      );
    }
    trace.count("reads");
  }

  function ignored(error: unknown): void {
    if (error instanceof RefusedError) throw error;
  }

  function run(errands: Errands, times: number): void {
    const names = Object.keys(errands);
    for (let i = 0; i < times; i++) {
      const name = random.pick(names);
      spread(name, 1, errands[name]!);
    }
  }

  /** `times` runs at random moments of the run. */
  function spread(what: string, times: number, run: () => Promise<void>): void {
    for (let i = 0; i < times; i++) {
      world.after(random.unit() * load.durationMs, () => clients.spawn(what, () => refusable(run)));
    }
  }

  async function refusable(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      trace.count(`answered ${error.refusal.code}`);
    }
  }

  return {
    start() {
      const early = Math.ceil(load.accounts / 2);
      clients.spawn("founding", async () => {
        for (let i = 0; i < early; i++) await tree.grow().catch(() => trace.count("founding interrupted"));
      });
      spread("create", load.accounts - early, () => tree.grow());
      spread("request", load.requests, request);
      run(parts.errands, load.errands);
      spread("read", Math.min(200, Math.round(load.durationMs / load.readEveryMs)), read);
      run(parts.configuring, load.configuring);
      run(parts.apiKeys.errands, load.keys);
    },
  };
}
