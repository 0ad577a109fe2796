// Checker 12: a wake that was answered leaves no key asleep from failures that had been reported before it, and at rest
// every Level has just the keys that stand in it by their pool.

import type { KeyPoolEvent } from "../../actors/key-pool/key-pool.ts";
import type { LevelEvent } from "../../actors/level/state.ts";
import type { LevelView } from "../../actors/level/view.ts";
import { refOf } from "../../src/runtime/actor.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

/** Something that was asked, and perhaps answered: by a count of all that happened here. */
export interface Span {
  readonly asked: number;
  answered: number | null;
}

export interface KeyChecker {
  /** A failure of a key is about to be reported. */
  fails(key: number): Span;
  /** A key is about to be changed: where it stands, or what it is. */
  changes(key: number): Span;
  /** A key, or all of an Owner's, are about to be woken. */
  wakes(owner: number, key: number | null): Span;
  /** Ends a span whose end was not known when it began. */
  over(span: Span): void;
  /** A view that was asked for at `since` (a span's start). */
  look(owner: number, view: LevelView, since: Span, now: number): void;
  begin(): Span;
  atRest(): void;
}

interface Wake {
  readonly owner: number;
  readonly key: number | null;
  readonly span: Span;
}

const NAME = "12 keys";

export function keyChecker(disk: SimDisk, trace: Trace): KeyChecker {
  const failures = new Map<number, Span[]>();
  const changes = new Map<number, Span[]>();
  const wakes: Wake[] = [];
  let happened = 0;

  const begin = (): Span => ({ asked: ++happened, answered: null });
  function noted(of: Map<number, Span[]>, key: number): Span {
    const span = begin();
    of.set(key, [...(of.get(key) ?? []), span]);
    return span;
  }
  const isBefore = (span: Span, wake: Span) => span.answered !== null && span.answered < wake.asked;
  const allBefore = (spans: readonly Span[] | undefined, wake: Span) =>
    (spans ?? []).every((span) => isBefore(span, wake));

  /** Which keys stand in which Level, as the pools' ledgers say, and as the Levels' own do. */
  function standing(): { pools: Map<string, number[]>; levels: Map<string, number[]> } {
    const pools = new Map<string, number[]>();
    const levels = new Map<string, number[]>();
    for (const [actor, commits] of disk.ledger) {
      const { kind, id } = refOf(actor);
      if (kind !== "key-pool" && kind !== "level") continue;
      const keys = new Map<number, number>();
      for (const { e } of commits.flatMap(({ events }) => events)) {
        if (kind === "level") {
          const event = e as LevelEvent;
          if (event.type === "members_changed") levels.set(id, event.keys.map((key) => key.id).sort());
          continue;
        }
        const event = e as KeyPoolEvent;
        if (event.type === "key_added" || event.type === "key_updated")
          keys.set(event.key.id, event.key.level);
        if (event.type === "key_removed") keys.delete(event.id);
      }
      for (const [key, level] of keys) {
        const name = `${id}.${level}`;
        pools.set(name, [...(pools.get(name) ?? []), key].sort());
      }
    }
    return { pools, levels };
  }

  return {
    fails: (key) => noted(failures, key),
    changes: (key) => noted(changes, key),
    wakes(owner, key) {
      const span = begin();
      wakes.push({ owner, key, span });
      return span;
    },
    over(span) {
      span.answered = ++happened;
    },
    begin,
    look(owner, view, since, now) {
      for (const { key, sleepsUntil } of view.health) {
        if (sleepsUntil <= now) continue;
        trace.count("sleeping keys seen");
        const wake = wakes.find(
          (one) =>
            one.owner === owner &&
            (one.key === null || one.key === key) &&
            one.span.answered !== null &&
            one.span.answered < since.asked &&
            allBefore(failures.get(key), one.span) &&
            allBefore(changes.get(key), one.span),
        );
        if (wake === undefined) continue;
        trace.violate(
          NAME,
          `key ${key} of owner ${owner} sleeps until ${sleepsUntil}, although it was woken since`,
        );
      }
    },
    atRest() {
      const { pools, levels } = standing();
      for (const name of new Set([...pools.keys(), ...levels.keys()])) {
        const [wanted, found] = [pools.get(name) ?? [], levels.get(name) ?? []];
        if (!Bun.deepEquals(wanted, found)) {
          trace.violate("7 liveness", `Level ${name} has the keys ${found}, by the pool they are ${wanted}`);
        }
      }
    },
  };
}
