// The door of the checkers: fed by the disk with every durable commit and save, by the clients with every answer.
// They know the contract and the forms of what is stored; of the code under test they use only the replay of check 4.

import type { AnyBehavior } from "../../src/runtime/actor.ts";
import { type ConfigChecker, configChecker } from "./check-configs.ts";
import { documentChecker, positionOf } from "./check-documents.ts";
import { type HoldChecker, holdChecker } from "./check-holds.ts";
import { type KeyChecker, keyChecker } from "./check-keys.ts";
import { type LedgerChecker, ledgerChecker } from "./check-ledger.ts";
import { moneyChecker } from "./check-money.ts";
import { type PlacementChecker, placementChecker } from "./check-placement.ts";
import type { Timeline } from "./clock.ts";
import { type FanOut, fanOut } from "./fan-out.ts";
import type { KeyOracle } from "./key-oracle.ts";
import { addCommit, emptyOracle } from "./oracle.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

export interface Checkers {
  readonly ledger: LedgerChecker;
  readonly holds: HoldChecker;
  readonly configs: ConfigChecker;
  readonly maps: FanOut;
  readonly keys: KeyChecker;
  readonly placement: PlacementChecker;
  /** Everything settled, saved, claimed and expired as it should be, when faults have stopped for long enough. */
  atRest(wall: number): Promise<void>;
}

/** An entry leaves within this after its expiry. */
const EXPIRY_MS = 60_000;

export function createCheckers(parts: {
  disk: SimDisk;
  timeline: Timeline;
  trace: Trace;
  /** As they should be: an injected bug is in the ones the nodes run. */
  behaviors: readonly AnyBehavior[];
  /** Changes of maps come one after another. */
  orderly: boolean;
  /** Nothing is lost now, and nobody stops without a word. */
  kind: () => boolean;
}): Checkers {
  const { disk, timeline, trace, behaviors } = parts;
  const ledger = ledgerChecker(trace);
  const money = moneyChecker(disk, trace);
  const holds = holdChecker({ disk, trace, timeline, kind: parts.kind });
  const documents = documentChecker(disk, behaviors, trace);
  const configs = configChecker(disk, trace);
  const maps = fanOut({ disk, configs, trace }, parts.orderly);
  const keys = keyChecker(disk, trace);
  const placement = placementChecker(trace);

  disk.observer = {
    committed(commit) {
      const events = commit.events.map(({ at, e }) => {
        const { type, id, amount } = e as { type: string; id?: string; amount?: number };
        return `${type} ${id ?? ""} ${amount ?? ""} ${at}`;
      });
      trace.step(timeline.now(), `commit ${commit.actor} ${commit.seq} ${commit.by} ${events.join("; ")}`);
      trace.count("commits");
      ledger.committed(commit);
      money.committed(commit);
      holds.committed(commit);
      configs.committed(commit);
    },
    saved(save) {
      const { actor, seq } = positionOf(save);
      trace.step(timeline.now(), `save ${actor} ${seq}${save.snapshot === null ? "" : " whole"}`);
      trace.count("saves");
      documents.saved(save);
      for (const one of save.documents) if (one.table === "configs") configs.saved(one);
    },
  };

  /** Every account has its two confirmed claims, every claim its account. */
  async function claims(): Promise<void> {
    const fail = (message: string) => trace.violate("7 claims", message);
    const all = await disk.store.find({ table: "accounts", where: [], order: "id" });
    const accounts = all.filter(({ closed }) => closed !== 2);
    for (const { id, nameLower } of accounts) {
      const claim = await disk.store.findClaim(`name:${nameLower}`);
      if (claim === null || claim.account !== id || !claim.confirmed)
        fail(`account ${id} has no confirmed claim of ${nameLower}`);
      const key = `key:${keyHashOf(disk, Number(id))}`;
      const keyClaim = await disk.store.findClaim(key);
      if (keyClaim === null || keyClaim.account !== id || !keyClaim.confirmed)
        fail(`account ${id} has no confirmed claim of its key`);
      for (const hash of keysOf(disk, Number(id)).claims().must) {
        const named = await disk.store.findClaim(`key:${hash}`);
        if (named === null || named.account !== id || !named.confirmed)
          fail(`account ${id} has no confirmed claim of a named key's secret`);
      }
    }
    const known = new Set(accounts.map(({ id }) => Number(id)));
    for (const claim of await disk.store.unconfirmed(Number.MAX_SAFE_INTEGER, 10_000)) {
      fail(`the ${claim.key.split(":")[0]} claim of account ${claim.account} was never resolved`);
    }
    for (const { key, account } of disk.claims()) {
      if (!known.has(account)) fail(`the ${key.split(":")[0]} claim of account ${account} has no account`);
      else if (key.startsWith("key:")) {
        const { must, may } = keysOf(disk, account).claims();
        const own = [keyHashOf(disk, account), ...must, ...may].map((hash) => `key:${hash}`);
        if (!own.includes(key)) fail(`account ${account} has a claim of a key that is not its own`);
      }
    }
  }

  /** Every parent counts the children that there are. */
  async function children(): Promise<void> {
    const all = await disk.store.find({ table: "accounts", where: [], order: "id" });
    for (const { id, children: counted } of all) {
      const there = all.filter(({ parent, closed }) => parent === id && closed !== 2).length;
      if (counted !== there)
        trace.violate("9 life", `account ${id} counts ${counted} children, there are ${there}`);
    }
  }

  async function expiry(wall: number): Promise<void> {
    const where = [{ field: "dueAt", is: "<=", value: wall - EXPIRY_MS }] as const;
    for (const { id, dueAt } of await disk.store.find({ table: "accounts", where, order: "id" })) {
      trace.violate(
        "7 liveness",
        `credit of account ${id} has been due since ${dueAt}, ${wall - Number(dueAt)} ms`,
      );
    }
  }

  return {
    ledger,
    holds,
    configs,
    maps,
    keys,
    placement,
    async atRest(wall) {
      ledger.atRest();
      await documents.atRest();
      await claims();
      await children();
      await expiry(wall);
      await configs.atRest();
      await maps.atRest();
      money.check();
      keys.atRest();
    },
  };
}

function keyHashOf(disk: SimDisk, account: number): string {
  for (const { events } of disk.ledger.get(`account/${account}`) ?? []) {
    for (const { e } of events) {
      const event = e as { type: string; profile?: { keyHash: string } };
      if (event.type === "created") return event.profile!.keyHash;
    }
  }
  return "";
}

function keysOf(disk: SimDisk, account: number): KeyOracle {
  const oracle = emptyOracle();
  for (const commit of disk.ledger.get(`account/${account}`) ?? []) addCommit(oracle, commit);
  return oracle.keys;
}
