// Each rule of the runtime that is code, switched off by one replacement in its source: a simulation that still passes has
// not seen the rule at work. What a mutant replaces must stand there exactly once, so that this list stays in step.
//
// Not here, since nothing that is promised breaks without them, they only cost speed: a duplicate key read as `lost` (more
// activations break), the second read of a beat's row (more self-fences), debts listed at a load (the commit that opens a
// term lists them too), the bound on loads, several appends at once, the pauses before a broken actor is loaded again,
// `retryNow`, the wait for balance, the unloading of idle actors; what is decided made durable before a shard is given away
// (callers repeat it). And what a second guard makes up for: a ledger of a higher epoch refused at a load (leases keep two
// owners apart, the store keeps a second writer out); a lease that begins when its beat is sent (an answer is waited for no
// longer than observers outlast the holder).

import type { Options } from "./simulate.ts";

export interface Replacement {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface Mutant extends Replacement {
  readonly name: string;
  /** What no longer holds. */
  readonly rule: string;
  /** Where a second guard stands for the same. */
  readonly also?: Replacement;
  /** Seeds after which it counts as survived; 40 when absent. */
  readonly seeds?: number;
  /** Where the rule matters; as drawn when absent. */
  readonly options?: Pick<Options, "nodes" | "cluster" | "placement" | "faults" | "load" | "limits">;
}

const activation = "src/runtime/activation/activation.ts";
const turns = "src/runtime/activation/command-turns.ts";
const outflow = "src/runtime/activation/commit-pipeline.ts";
const lease = "src/runtime/placement/node-lease.ts";
const cluster = { nodes: 3 } as const;
const credit = {
  nodes: 1,
  load: { depth: 3, accounts: 12, requests: 30, errands: 0, configuring: 0 },
} as const;
const kind = { nodes: 3, cluster: { kind: true, late: 1 }, load: busy() } as const;

/** A few accounts whose requests nearly all come with named keys, which are made and changed all the time. */
const keyed = {
  nodes: 1,
  load: {
    ...{ keys: 200, keyed: 0.95, accounts: 6, hot: 1, requests: 400, errands: 20, configuring: 0 },
    ...{ thinkMs: 4_000, durationMs: 60_000, wealth: 1_000, limited: 0 },
  },
} as const;

/** Requests that are under way while shards move, on accounts that are nearly empty or limited. */
function busy() {
  return {
    requests: 250,
    accounts: 12,
    thinkMs: 8_000,
    durationMs: 60_000,
    wealth: 3,
    limited: 0.6,
    configuring: 0,
  };
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "no memory of ids",
    rule: "a repeated id answers what it answered",
    file: turns,
    from: "if (before !== undefined) return { reply: before, batch: this.pipeline.lastBatch() };",
    to: "",
  },
  {
    name: "no look-up in the ledger",
    rule: "an old marked command is looked up before its turn",
    file: activation,
    from: "dedupId !== undefined && this.isOld(envelope, loaded) ? await this.inLedger(loaded, dedupId) : false",
    to: "false",
  },
  {
    name: "two appends in flight",
    rule: "one append of an actor at a time",
    file: outflow,
    from: "if (this.isQueued || this.inFlight !== null || this.queue.length === 0) return;",
    to: "if (this.isQueued || this.queue.length === 0) return;",
  },
  {
    name: "torn commit",
    rule: "one flush of one actor is stored whole or not at all",
    file: "test/sim/store.ts",
    from: "const commit: Commit = JSON.parse(JSON.stringify(given));",
    to: "const whole: Commit = JSON.parse(JSON.stringify(given));\n      const commit = whole.events.length > 1 && whole.seq % 3 === 0 ? { ...whole, events: whole.events.slice(1) } : whole;",
  },
  {
    name: "duplicate key is success",
    rule: "another writer's commit is not one's own",
    file: "test/sim/store.ts",
    from: "return outcome!;",
    to: 'return outcome === "lost" ? "committed" : outcome!;',
  },
  {
    name: "state kept after unknown",
    rule: "an append of unknown outcome breaks the activation",
    file: outflow,
    from: 'if (outcome !== "committed") {',
    to: 'if (outcome === "lost") {',
  },
  {
    name: "replies not gated",
    rule: "a reply waits for its commit",
    file: turns,
    from: "return { reply, batch: this.record(fold, turn, reply, memory, decision) };",
    to: "this.record(fold, turn, reply, memory, decision);\n    return { reply, batch: null };",
  },
  {
    name: "reads not gated",
    rule: "a read waits for what it shows",
    file: turns,
    from: "return { reply, batch: decision.ungated ? null : this.pipeline.lastBatch() };",
    to: "return { reply, batch: null };",
  },
  {
    name: "no opened commit",
    rule: "an owner fences the one before by a commit of its own",
    file: activation,
    from: "if (position.seq > 0 && (mayBeAppended || epoch > position.epoch)) {",
    to: "if (position.seq < 0) {",
    options: {
      nodes: 1,
      faults: { late: 0.3, lateMs: 6_000, crashEveryMs: 2_000, restartMs: 10, graceful: 0, outageEveryMs: 0 },
      load: {
        ...{ accounts: 4, hot: 4, requests: 300, wealth: 1_000, durationMs: 60_000, thinkMs: 100 },
        ...{ errands: 0, configuring: 0 },
      },
    },
    seeds: 300,
  },
  {
    name: "no sweep",
    rule: "what an owner left behind is looked for",
    file: "src/runtime/cluster/recovery-scan.ts",
    from: "await Promise.all(names.map((name) => loads.run(() => load(name))));",
    to: "await Promise.all([]);",
  },
  {
    name: "watermark not kept",
    rule: "a watermark waits for what is not saved",
    file: "src/runtime/activation/activation-cache.ts",
    from: "for (const activation of this.all()) oldest = Math.min(oldest, activation.uncoveredSince() ?? oldest);",
    to: "",
    seeds: 120,
    options: {
      nodes: 1,
      limits: { saveMs: 8_000 },
      faults: { failSave: 0.95, crashEveryMs: 60_000, graceful: 0, outageEveryMs: 0 },
      load: {
        ...{ accounts: 60, hot: 1, requests: 120, durationMs: 200_000, thinkMs: 100 },
        ...{ errands: 0, configuring: 0, readEveryMs: 1_000_000, duplicated: 0 },
      },
    },
  },
  {
    name: "a charge given up after its budget",
    rule: "a late charge is tried until it is stored",
    file: "src/gateway/admission/settlement.ts",
    from: "clock.after(RETRY_MS, () => this.retry(one));",
    to: "void this.forget(id);",
  },
  {
    name: "errors that do not wait for the key",
    rule: "an Idempotency-Key is free when its error is answered",
    file: "src/gateway/admission/settlement.ts",
    from: "await atMost(clock, this.waitMs, cancelled);",
    to: "isFree = true;",
    options: kind,
  },
  {
    name: "answers overtaken by failures",
    rule: "attempts are judged in the order in which they ended",
    file: "src/gateway/attempt/level-reports.ts",
    from: 'if (trouble === "recovering") this.flushLater(name, outbox);\n    else this.flush(name, outbox);',
    to: "this.flushLater(name, outbox);",
    also: {
      file: "actors/level/level.ts",
      from: "before === undefined ? [] : recoveries(state, [before], now);",
      to: "[] as LevelEvent[];",
    },
    options: kind,
  },
  {
    name: "ids not in snapshots",
    rule: "a snapshot carries the memory of ids",
    file: "src/runtime/activation/replay.ts",
    from: "done: ids.durableEntries(),",
    to: "done: [],",
  },
  {
    name: "ended holds opened again",
    rule: "a hold that has ended is not reasserted",
    file: "actors/account/reassert-holds.ts",
    from: "hasEnded(state, reasserted.id) || reasserted.expiresAt <= now",
    to: "reasserted.expiresAt <= now",
    also: {
      file: "src/gateway/admission/hold-registry.ts",
      from: "if (entry?.isReasserted) this.removeUnconfirmed(entry.account, id);",
      to: "",
    },
    options: { ...kind, cluster: { ...kind.cluster, bus: slowBus() } },
    seeds: 80,
  },
  {
    name: "sent admissions counted as decided at once",
    rule: "an account remembers ended requests whose admission may arrive after their end",
    file: "src/gateway/admission/hold-registry.ts",
    from: "return entry?.isAtOnce === true && !entry.isReasserted;",
    to: "return entry !== undefined;",
    options: {
      ...{ ...kind, cluster: { ...kind.cluster, bus: { ...slowBus(), slow: 0.3, slowMs: 3_500 } } },
      load: { ...busy(), requests: 1_500, thinkMs: 1_000 },
    },
    seeds: 80,
  },
  {
    name: "kept ids sent as new ones",
    rule: "what may have been sent before is looked up in the ledger",
    file: "src/runtime/cluster/retry-client.ts",
    from: "isRetry || options.bornAt !== undefined",
    to: "isRetry",
    seeds: 80,
  },
  {
    name: "holds not reasserted",
    rule: "a node with open requests reasserts their holds to a new owner",
    file: "src/gateway/admission/hold-registry.ts",
    from: "await Promise.all(moved.map(([account, newest]) => this.report(account, { due: idsUntil(newest) })));",
    to: "await Promise.all(moved.map(() => null));",
    options: kind,
  },
  {
    name: "no gate for arrivals",
    rule: "an owner waits for what others hold before it admits",
    file: "src/runtime/cluster/hold-handoff.ts",
    from: "return this.gates.get(shard)?.opened ?? null;",
    to: "return null;",
    options: kind,
  },
  {
    name: "a former owner's admission counts",
    rule: "an ungated reply counts only from who owns the shard still",
    file: "src/runtime/cluster/actor-router.ts",
    from: "return stands ? reply : this.notOwner();",
    to: "return reply;",
    also: {
      file: "src/gateway/admission/settlement.ts",
      from: "if (round !== holds.generation()) holds.reassert(id);",
      to: "",
    },
    options: {
      ...{ ...kind, cluster: { ...kind.cluster, bus: slowBus() } },
      load: { ...busy(), requests: 1_500, accounts: 5, wealth: 100 },
    },
    seeds: 80,
  },
  {
    name: "the holder outlasts the observers",
    rule: "who holds a lease stops before others may take over",
    file: "src/runtime/placement/cluster-placement.ts",
    from: "holdMs: 4_000,",
    to: "holdMs: 9_000,",
    options: cluster,
    seeds: 80,
  },
  {
    name: "monotonic time alone",
    rule: "a lease counts by the clock that says more has passed",
    file: lease,
    from: "Math.max(clock.mono() - sent.mono, clock.wall() - sent.wall) < limits.holdMs",
    to: "clock.mono() - sent.mono < limits.holdMs",
    options: { nodes: 3, cluster: { kind: false, asleep: 1, freezeEveryMs: 10_000, freezeMs: 12_000 } },
    seeds: 80,
  },
  {
    name: "takeover without declaring dead",
    rule: "an owner's own row says dead before its shards are taken",
    file: lease,
    from: `const write = registry.cas(rowKey(name), found.rev, JSON.stringify(row));
        const rev = await inTime(clock, limits.callMs, write);
        if (rev !== null) return { row, rev };`,
    to: "return { row, rev: found.rev };",
    options: { nodes: 3, cluster: { kind: false, asleep: 0, freezeEveryMs: 8_000, freezeMs: 9_000 } },
    seeds: 80,
  },
  {
    name: "the planner trusts its own lease",
    rule: "nobody plans itself away by its own opinion",
    file: "src/runtime/placement/member-states.ts",
    from: 'const own = isLeaving() ? "leaving" : "up";',
    to: 'const own = !parts.identity.isHeld() ? "gone" : isLeaving() ? "leaving" : "up";',
    options: {
      ...{ nodes: 3, faults: { crashEveryMs: 0, slow: 0.05, slowMs: 5_000 } },
      cluster: {
        ...{ kind: false, freezeEveryMs: 5_000, freezeMs: 9_000, asleep: 0 },
        ...{ cutEveryMs: 7_000, cutMs: 9_000, allDownEveryMs: 0 },
      },
      load: {
        ...{ accounts: 1, requests: 5, durationMs: 95_000, readEveryMs: 1_000_000 },
        ...{ errands: 0, configuring: 0 },
      },
    },
    seeds: 400,
  },
  {
    name: "served on while given away",
    rule: "who gives a shard away serves it no more in that epoch",
    file: "src/runtime/placement/shard-ownership.ts",
    from: "return !this.owns(shard) || (this.stoppedEpochs.get(shard) ?? 0) >= epoch ? 0 : epoch;",
    to: "return !this.owns(shard) ? 0 : epoch;",
    options: kind,
  },
  {
    name: "claims of the unborn released",
    rule: "an account whose claims are scanned is never born",
    file: "src/admin/periodic-sweeps.ts",
    from: 'await system.ask(actorRef.account(account), "forbidCreation", {});',
    to: "",
    options: {
      nodes: 5,
      cluster: { kind: false },
      faults: { stepEveryMs: 3_000 },
      load: {
        ...{ accounts: 80, durationMs: 150_000, requests: 30, readEveryMs: 1_000_000 },
        ...{ errands: 0, configuring: 0, byService: 0.2 },
      },
    },
    seeds: 200,
  },
  {
    name: "AutoQuota asked no more after a refusal",
    rule: "a request asks for AutoQuota whatever the parent answered before",
    file: "actors/account/auto-quota.ts",
    from: "return { reply: { asked: request !== null }, events: request === null ? [] : [request] };",
    to: "return turn.now < state.quota.notBefore || request === null ? { reply: { asked: false } } : { reply: { asked: true }, events: [request] };",
    options: credit,
  },
  {
    name: "a deletion begun without a look",
    rule: "a deletion whose refund does not fit is refused before anything moves",
    file: "src/admin/delete-account.ts",
    from: "if (full !== null) throw new RefusedError(full);",
    to: "",
    options: credit,
  },
  {
    name: "a refund sent to and fro",
    rule: "a closing account waits for its parent's room",
    file: "actors/account/closing.ts",
    from: "if (full !== null) return { refused: busy(full.message) };",
    to: "",
    options: credit,
  },
  {
    name: "documents without the guard of seq",
    rule: "an older document never takes a newer one's place",
    file: "test/store/memory/memory-documents.ts",
    from: "if (document.seq > (table.get(document.id)?.seq ?? 0)) table.set(document.id, document);",
    to: "table.set(document.id, document);",
    options: {
      nodes: 1,
      limits: { saveMs: 200, saveCommits: 1 },
      faults: {
        ...{ slow: 0.1, slowMs: 4_000, crashEveryMs: 10_000, restartMs: 10, graceful: 0, outageEveryMs: 0 },
        ...{ stepEveryMs: 0, failRead: 0 },
      },
      load: {
        ...{ accounts: 60, hot: 1, requests: 1_000, wealth: 1_000, durationMs: 40_000, thinkMs: 100 },
        ...{ errands: 0, configuring: 0, limited: 0, duplicated: 0, readEveryMs: 1_000_000 },
      },
    },
    seeds: 200,
  },
  {
    name: "a key's cap ignores holds",
    rule: "requests of a key that run together stay below its cap",
    file: "actors/account/reserve.ts",
    from: "held: ({ state, named }) => state.volatile.keyHolds?.get(named!.key.id)?.cost ?? ZERO,",
    to: "held: () => ZERO,",
    options: keyed,
  },
  {
    name: "a key is never alone",
    rule: "a lone request of a key holds the rest of its cap, beside holds of other keys",
    file: "actors/account/reserve.ts",
    from: "isAlone: ({ state, named }) => !state.volatile.keyHolds?.has(named!.key.id),",
    to: "isAlone: isAccountAlone,",
    options: keyed,
  },
  {
    name: "released forgets the key",
    rule: "a request that ends without a charge counts in its key's windows",
    file: "actors/account/charge.ts",
    from: "return [apiKey === MAIN_API_KEY ? released : { ...released, apiKey }];",
    to: "return [apiKey === MAIN_API_KEY ? released : released];",
    options: { ...keyed, load: { ...keyed.load, cancelled: 0.6 } },
  },
  {
    name: "a key's list is not read again",
    rule: "a request that moves to another model stays within its key's lists",
    file: "actors/account/admit.ts",
    from: "named === null ? input.routing : keyListRefusal(named.key, input);",
    to: "input.routing;",
    options: { ...keyed, load: { ...keyed.load, moved: 0.5 } },
  },
  {
    name: "a fee forgets the key",
    rule: "a fee counts against the caps of the key that asked",
    file: "actors/account/evolve.ts",
    from: 'if (event.type === "query_fee" && event.apiKey !== undefined) {',
    to: 'if (event.type === "delete_fee" && event.apiKey !== undefined) {',
    options: { ...keyed, load: { ...keyed.load, errands: 300 } },
  },
  {
    name: "an expired key is accepted",
    rule: "a key is invalid from its expiry on, at the account's own time",
    file: "actors/account/authenticate.ts",
    from: "if (expiresAt !== null && expiresAt <= now) {",
    to: "if (expiresAt !== null && expiresAt + 5_000 <= now) {",
    options: keyed,
  },
  {
    name: "an overlap never ends",
    rule: "a former secret is good for the overlap and no longer",
    file: "actors/account/authenticate.ts",
    from: "if (secret.until !== null && secret.until <= now) {",
    to: "if (secret.until !== null && secret.until <= now - 20_000) {",
    options: keyed,
  },
  {
    name: "a move keeps foreign keys",
    rule: "a move disables the keys of accounts that are no longer above",
    file: "actors/account/evolve-lifecycle.ts",
    from: "disableForeignKeys(state, profileOf(state));",
    to: "",
    options: { ...keyed, load: { ...keyed.load, errands: 300 } },
  },
  {
    name: "claims of dead secrets stay",
    rule: "what a sweep finds dead is released and forgotten",
    file: "src/admin/periodic-sweeps.ts",
    from: "await forgetDeadSecrets(parts, id, deadSecrets);",
    to: "void deadSecrets;",
    options: keyed,
  },
];

function slowBus() {
  return {
    ...{ latencyMs: 40, slow: 0.2, slowMs: 150, loss: 0, replyLoss: 0, newsLoss: 0, doubled: 0 },
    ...{ frameLengthMax: 16 * 1024 * 1024, publicationLengthMax: 333_333 },
  };
}
