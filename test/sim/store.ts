// The disk that survives every crash (the plain memory store), and a node's faulty line to it.
//
// The disk reports to its observer every commit that becomes durable and of every save; the line decides what the node
// gets to know of it. A call that was sent may be applied although its caller gave up or crashed meanwhile.

import type { Appended, Commit, Save, Store } from "../../src/store/store.ts";
import { memoryStore } from "../store/memory/memory.ts";
import type { ProcessClock, Timeline } from "./clock.ts";
import type { Faults } from "./faults.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";

/** Every error that the simulation makes; any other is a bug. */
export class SimFault extends Error {}

export interface DiskObserver {
  committed(commit: Commit): void;
  saved(save: Save): void;
}

export interface SimDisk {
  readonly store: Store;
  readonly ledger: ReadonlyMap<string, readonly Commit[]>;
  observer: DiskObserver;
  /** The line is down until this virtual ms. */
  downUntil: number;
  faults: Faults;
  append(commit: Commit): Promise<Appended>;
  save(saves: readonly Save[]): Promise<void>;
  /** Claims that stand, as far as they were made through a line. */
  claims(): readonly { readonly key: string; readonly account: number }[];
  /** The store's small rows, with claims listed. */
  claim: Store["claim"];
  release: Store["release"];
  /** The registry: strings that nobody can change, and so need no copies. */
  read: Store["read"];
  cas: Store["cas"];
}

export function createDisk(clock: ProcessClock, faults: Faults): SimDisk {
  const store = memoryStore({ clock });
  const ledger = new Map<string, Commit[]>();
  const claimed = new Map<string, { account: number; by: string }>();
  const registry = new Map<string, { readonly value: string; readonly rev: number }>();
  const disk: SimDisk = {
    store,
    ledger,
    observer: { committed() {}, saved() {} },
    downUntil: 0,
    faults,
    async append(given) {
      freezeDeep(given.events);
      const commit: Commit = JSON.parse(JSON.stringify(given));
      const [outcome] = await store.append([commit]);
      const own = ledger.get(commit.actor) ?? [];
      ledger.set(commit.actor, own);
      if (outcome === "committed" && !own.some((other) => other.seq === commit.seq)) {
        own.push(commit);
        disk.observer.committed(commit);
      }
      return outcome!;
    },
    async save(saves) {
      await store.save(saves);
      for (const save of saves) disk.observer.saved(save);
    },
    claims: () => [...claimed].map(([key, { account }]) => ({ key, account })),
    async claim(key, account, by, at) {
      const mine = await store.claim(key, account, by, at);
      if (mine) claimed.set(key, { account, by });
      return mine;
    },
    async release(key, by) {
      await store.release(key, by);
      if (claimed.get(key)?.by === by) claimed.delete(key);
    },
    read: async (key) => registry.get(key) ?? null,
    async cas(key, rev, value) {
      if ((registry.get(key)?.rev ?? 0) !== rev) return null;
      registry.set(key, { value, rev: rev + 1 });
      return rev + 1;
    },
  };
  return disk;
}

/** Freezes a plain value with all that it holds, so that a later change of it throws. */
function freezeDeep(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freezeDeep(part);
}

export interface LineParts {
  readonly disk: SimDisk;
  readonly timeline: Timeline;
  /** Applications go on when the node is dead: the world's clock. */
  readonly world: ProcessClock;
  /** Answers die with the node. */
  readonly node: ProcessClock;
  readonly random: SimRandom;
  readonly trace: Trace;
  readonly dead: () => boolean;
  /** This node alone is cut off. */
  readonly isCut: () => boolean;
  /**
   * One process at a time holds the store's lock, which ends with it: what it still has under way in the registry when it
   * crashes is never applied, and nothing there is late.
   */
  readonly locked: boolean;
}

type Fate = "ok" | "failBefore" | "failAfter" | "late" | "resend";

/** The store as one node sees it. */
export function storeLine(parts: LineParts): Store {
  const { disk, timeline, world, node, random, trace, dead, isCut, locked } = parts;
  const down = () => timeline.now() < disk.downUntil || isCut();

  function leg(): number {
    const { latencyMs, slow, slowMs } = disk.faults;
    if (!random.chance(slow)) return random.pause(latencyMs);
    trace.count("store slow");
    return random.unit() * slowMs;
  }

  function fate(): Fate {
    const { failBefore, failAfter, late } = disk.faults;
    const draw = random.unit();
    if (draw < failBefore) return "failBefore";
    if (draw < failBefore + failAfter) return "failAfter";
    return draw < failBefore + failAfter + late ? "late" : "ok";
  }

  /** An answer that reaches the node only while it lives. */
  function answer<T>(ms: number, give: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const receive = () => void give().then(resolve, reject);
      if (locked) node.after(ms, receive);
      // The way takes the world's time; the node receives it when it runs.
      else world.after(ms, () => void node.after(0, receive));
    });
  }

  const after = (ms: number, run: () => void) => void world.after(ms, run);

  async function appendOne(commit: Commit, given: Fate): Promise<Appended> {
    const fate = given === "ok" && random.chance(disk.faults.resend) ? "resend" : given;
    if (fate !== "ok") trace.count(`append ${fate}`);
    const there = leg();
    let outcome: Promise<Appended> = Promise.resolve("unknown");
    const apply = () => {
      outcome = disk.append(commit);
    };
    if (fate === "late") {
      const back = there + leg();
      after(back + random.unit() * disk.faults.lateMs, apply);
      return answer(back, async (): Promise<Appended> => "unknown");
    }
    if (fate === "failBefore") return answer(there + leg(), async (): Promise<Appended> => "unknown");
    after(there, apply);
    if (fate === "failAfter") return answer(there + leg(), async (): Promise<Appended> => "unknown");
    if (fate === "ok") return answer(there + leg(), () => outcome);
    const again = there + leg();
    after(again, apply);
    return answer(again + leg(), () => outcome);
  }

  async function write<T>(name: string, apply: () => Promise<T>, registry = false): Promise<T> {
    const chosen = down() ? "failBefore" : fate();
    if (chosen !== "ok") trace.count(`write ${chosen}`);
    const there = leg();
    const back = there + leg();
    let outcome: Promise<T>;
    const run = () => {
      if (registry && locked && dead()) return;
      outcome = apply();
    };
    if (chosen === "ok" || chosen === "failAfter") after(there, run);
    else if (chosen === "late" && !(registry && locked))
      after(back + random.unit() * disk.faults.lateMs, run);
    return answer(back, () => (chosen === "ok" ? outcome : Promise.reject(new SimFault(`${name} failed`))));
  }

  async function read<T>(name: string, get: () => Promise<T>): Promise<T> {
    const fails = down() || random.chance(disk.faults.failRead);
    if (fails) trace.count("read failed");
    const there = leg();
    let outcome: Promise<T>;
    after(there, () => {
      outcome = get();
    });
    return answer(there + leg(), () => (fails ? Promise.reject(new SimFault(`${name} failed`)) : outcome));
  }

  const { store } = disk;
  const appendsAtOnce = random.between(1, 4);
  return {
    appendsAtOnce,
    // The same draw decides both: a store that carries out few appends at once gains most by waiting.
    appendDelayMs: 4 - appendsAtOnce,
    appendsOutliveSender: true,
    followsSnapshots: false,
    async append(commits) {
      if (down()) {
        trace.count("append while down");
        const gone = random.chance(0.5);
        return answer(leg(), async () => {
          if (gone) throw new SimFault("the store is down");
          return commits.map(() => "unknown");
        });
      }
      const each = random.chance(disk.faults.mixed);
      const all = fate();
      const outcomes = await Promise.all(commits.map((commit) => appendOne(commit, each ? fate() : all)));
      for (const [i, { actor, seq }] of commits.entries()) {
        trace.step(timeline.now(), `answer ${actor} ${seq} ${outcomes[i]}`);
        trace.count(`answer ${outcomes[i]}`);
      }
      return outcomes;
    },
    async save(saves) {
      const fails = down() || random.chance(disk.faults.failSave);
      const stored = !fails || (!down() && random.chance(0.5));
      if (fails) trace.count("save failed");
      const there = leg();
      const copy: readonly Save[] = JSON.parse(JSON.stringify(saves));
      let outcome: Promise<void> = Promise.resolve();
      after(there, () => {
        if (stored) outcome = disk.save(copy);
      });
      return answer(there + leg(), () => (fails ? Promise.reject(new SimFault("save failed")) : outcome));
    },
    readCommits: (actor, from, limit) => read("tail", () => store.readCommits(actor, from, limit)),
    loadSnapshot: (actor) => read("load", () => store.loadSnapshot(actor)),
    actorsToRecover: (shards, since) => read("dirty", () => store.actorsToRecover(shards, since)),
    hasDedupId: (actor, mark) => {
      trace.count("ledger look-up");
      return read("marked", () => store.hasDedupId(actor, mark));
    },
    commitsByDedupId: (mark, limit) => read("byMark", () => store.commitsByDedupId(mark, limit)),
    readLines: (actor, from, to) => read("lines", () => store.readLines(actor, from, to)),
    lines: (filter, from, limit) => read("filtered", () => store.lines(filter, from, limit)),
    walkLines: (filter, walk, signal) => read("walked", () => store.walkLines(filter, walk, signal)),
    lineTotals: (filter, signal) => read("counted", () => store.lineTotals(filter, signal)),
    keyCosts: (day, keys) => read("costs", () => store.keyCosts(day, keys)),
    lastCommit: (actor) => read("last", () => store.lastCommit(actor)),
    listActors: (prefix, from, limit) => read("actors", () => store.listActors(prefix, from, limit)),
    find: (find) => read("find", () => store.find(find)),
    count: (conditions) => read("count", () => store.count(conditions)),
    scan: (walk) => store.scan(walk),
    rankAccounts: (query) => read("ranks", () => store.rankAccounts(query)),
    putRecords: (records) => write("put", () => store.putRecords(records)),
    removeRecords: (table, ids) => write("remove", () => store.removeRecords(table, ids)),
    usageTotals: (query, signal) => read("totals", () => store.usageTotals(query, signal)),
    moneyTotals: (since) => read("money", () => store.moneyTotals(since)),
    usageReport: (query, signal) => read("used", () => store.usageReport(query, signal)),
    claim: (key, account, by, at) => write("claim", () => disk.claim(key, account, by, at)),
    findClaim: (key) => read("claimed", () => store.findClaim(key)),
    confirm: (key, by) => write("confirm", () => store.confirm(key, by)),
    release: (key, by) => write("release", () => disk.release(key, by)),
    // API keys are drawn by the real CSPRNG, so their order is not the seed's: ordered by claimant instead.
    unconfirmed: (before, limit) =>
      read("unconfirmed", async () =>
        [...(await store.unconfirmed(before, limit))].sort(
          (a, b) => a.at - b.at || (a.by < b.by ? -1 : a.by > b.by ? 1 : a.key.length - b.key.length),
        ),
      ),
    keepAnswer: (answer, most) => write("keepAnswer", () => store.keepAnswer(answer, most)),
    answer: (id, now) => read("answer", () => store.answer(id, now)),
    dropAnswers: (until, limit) => write("dropAnswers", () => store.dropAnswers(until, limit)),
    reserveIds: (counter, size) => write("block", () => store.reserveIds(counter, size)),
    now: () => read("now", () => store.now()),
    read: (key) => read("read", () => disk.read(key)),
    cas: (key, rev, value) => write("cas", () => disk.cas(key, rev, value), true),
    close: async () => {},
  };
}
