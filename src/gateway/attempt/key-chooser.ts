// Chooses a provider key of a Level. A request of a conversation goes to the key that the conversation meets first, or where
// it was answered last, so that its prompt is in that key's cache. Any other request goes to the usable key with the fewest
// requests in flight on this node, round robin among equals. spec: Routing order, step 5; contract sections 4 and 9. It only
// reads the Level's view, and changes no key's health.

import type { ProviderKeyId } from "../../../actors/ids.ts";
import {
  healthOf,
  type KeyHealth,
  type LevelKey,
  type LevelView,
  usability,
} from "../../../actors/level/view.ts";
import type { Clock } from "../../base/clock.ts";
import type { Serves } from "../codec/key-support.ts";
import { hasWokenLately, KeyDeviations } from "../routing/key-deviations.ts";
import { type ConversationHash, highestRanked } from "../routing/rendezvous.ts";
import { AvoidedKeys } from "./avoided-keys.ts";
import { KeyLoads, loadMax } from "./key-loads.ts";

/** The request that needs a key. */
export interface Wish {
  readonly model: string;
  /** The name under which keys that lack the model are passed over; omitted means `model`. */
  readonly modelAtPath?: string;
  readonly serves: Serves;
  /** The keys that are asked before all others that serve it; null or omitted where there is no such difference. */
  readonly servesFirst?: Serves | null;
  /** Its conversation at this Level; null for a request without one, or where affinity is off. */
  readonly conversation: ConversationHash | null;
  /** Whether the conversation was answered before, by whichever node. */
  readonly isLaterTurn: boolean;
  /** Wall-clock milliseconds. */
  readonly now: number;
  readonly tried: ReadonlySet<ProviderKeyId>;
  /** Waking keys whose probe another request has. They are chosen only when no other key is left. */
  readonly probing: ReadonlySet<ProviderKeyId>;
}

/** The chosen key. */
export interface Choice {
  readonly key: LevelKey;
  /**
   * The key has slept and no probe of it is known: the caller must first ask its Level for the right to
   * probe.
   */
  readonly probe: boolean;
}

/** The part of a wish that says which keys a conversation meets. */
export interface AffinityQuery extends Pick<Wish, "model" | "serves" | "servesFirst"> {
  readonly conversation: ConversationHash;
}

/** How a conversation meets its key. */
export interface Affinity {
  /** The key that it meets first while all keys can be used; null when no key serves it. */
  readonly first: ProviderKeyId | null;
  /** The other key that answered it last on this node, while `choose` returns that one for it; else null. */
  readonly remembered: ProviderKeyId | null;
}

/** Chooses keys, and counts the requests in flight per key on this node. */
export interface KeyChooser {
  /** Returns the best key that was not tried yet, or null when none is left. It does not call `take`. */
  choose(view: LevelView, wish: Wish): Choice | null;
  /** Remembers which key has answered a conversation, where that is not its first choice. */
  answered(view: LevelView, query: AffinityQuery, key: ProviderKeyId): void;
  /** Returns how the later turns of a conversation meet their key at `now` (wall-clock ms). */
  affinityOf(view: LevelView, query: AffinityQuery, now: number): Affinity;
  /** Counts a request on the key until `done` is called. */
  take(key: ProviderKeyId): void;
  /** Ends the count of a request on the key. */
  done(key: ProviderKeyId): void;
  /** Avoids the key until a view newer than `version` arrives, at most until `until` (wall-clock ms). */
  avoidUntil(key: ProviderKeyId, version: number, until: number): void;
  /** Returns the requests in flight on the key on this node. */
  inFlight(key: ProviderKeyId): number;
  /** Returns the requests in flight on this node, summed over all keys. */
  allInFlight(): number;
}

/** Creates the chooser of this node. */
export const createKeyChooser = (clock: Clock): KeyChooser => new NodeKeyChooser(clock);

/** How a key can take a request: freely, by a probe that is free, or beside the probe of another request. */
type Readiness = "ready" | "probe" | "spare";

const isOpen = (readiness: Readiness | null): boolean => readiness === "ready" || readiness === "probe";

export const NO_KEYS: ReadonlySet<ProviderKeyId> = new Set();

class NodeKeyChooser implements KeyChooser {
  private readonly loads = new KeyLoads();
  private readonly avoided = new AvoidedKeys();
  private readonly deviations: KeyDeviations;

  constructor(clock: Clock) {
    this.deviations = new KeyDeviations(clock);
  }

  choose(view: LevelView, wish: Wish): Choice | null {
    const { servesFirst = null } = wish;
    const first = servesFirst === null ? null : this.chooseServing(view, { ...wish, serves: servesFirst });
    return first ?? this.chooseServing(view, wish);
  }

  private chooseServing(view: LevelView, wish: Wish): Choice | null {
    const { conversation } = wish;
    return conversation === null ? this.leastBusy(view, wish) : this.byAffinity(view, wish, conversation);
  }

  answered(view: LevelView, query: AffinityQuery, key: ProviderKeyId): void {
    this.deviations.answered(query.conversation, key, firstIn(view, query));
  }

  affinityOf(view: LevelView, query: AffinityQuery, now: number): Affinity {
    const remembered = this.deviations.keyOf(query.conversation);
    const wish = { ...query, isLaterTurn: true, now, tried: NO_KEYS, probing: NO_KEYS };
    // A remembered key that goes after others, because those serve the request as it is, is not where it goes.
    const isNext = remembered !== null && this.choose(view, wish)?.key.id === remembered;
    return { first: firstIn(view, query, now), remembered: isNext ? remembered : null };
  }

  take(key: ProviderKeyId): void {
    this.loads.take(key);
  }

  done(key: ProviderKeyId): void {
    this.loads.done(key);
  }

  avoidUntil(key: ProviderKeyId, version: number, until: number): void {
    this.avoided.add(key, version, until);
  }

  inFlight(key: ProviderKeyId): number {
    return this.loads.of(key);
  }

  allInFlight(): number {
    return this.loads.ofAll();
  }

  /** The first request that finds a waking key probes it. */
  private leastBusy(view: LevelView, wish: Wish): Choice | null {
    const health = healthOf(view);
    let best: LevelKey | null = null;
    let spare: LevelKey | null = null;
    for (const key of view.keys) {
      const readiness = this.readinessOf(key, view, wish, health?.get(key.id));
      if (readiness === "probe") return { key, probe: true };
      if (readiness === "ready") {
        if (best === null || this.loads.isBefore(key.id, best.id)) best = key;
      } else if (readiness === "spare") {
        if (spare === null || this.loads.isBefore(key.id, spare.id)) spare = key;
      }
    }
    const key = best ?? spare;
    return key === null ? null : { key, probe: false };
  }

  /**
   * Returns the key that answered the conversation last, else its first choice among the usable keys; both pass over a key
   * that is overloaded. A waking key is probed by a conversation that meets it, so that the others stay where they are. Later
   * turns pass over a key that has woken lately: the conversation has moved to another one, which this node need not know.
   */
  private byAffinity(view: LevelView, wish: Wish, conversation: ConversationHash): Choice | null {
    const first = this.rankedFirst(view, wish, conversation, Number.POSITIVE_INFINITY);
    // Whatever is left is probed by other requests.
    if (first === null) return this.leastBusy(view, wish);
    const load = this.loads.of(first.id);
    // Mostly so few that nothing has to be known of the other keys.
    const most = load <= loadMax(0) ? load : loadMax(this.leastLoad(view, wish));
    const key = load <= most ? first : this.rankedFirst(view, wish, conversation, most)!;
    return { key, probe: healthOf(view)?.get(key.id)?.waking === true };
  }

  /** Returns the key that the conversation goes to among those with at most so many requests in flight; null for none. */
  private rankedFirst(
    view: LevelView,
    wish: Wish,
    conversation: ConversationHash,
    most: number,
  ): LevelKey | null {
    const { keys } = view;
    const health = healthOf(view);
    const remembered = this.deviations.keyOf(conversation);
    const isFree = (key: LevelKey): boolean =>
      this.loads.of(key.id) <= most && isOpen(this.readinessOf(key, view, wish, health?.get(key.id)));
    const stayed =
      wish.isLaterTurn && health !== undefined
        ? highestRanked(keys, conversation, remembered, (key) => {
            return !hasWokenLately(health.get(key.id), wish.now) && isFree(key);
          })
        : null;
    return stayed ?? highestRanked(keys, conversation, remembered, isFree);
  }

  /** Returns the requests in flight of the least busy key that can take the request. */
  private leastLoad(view: LevelView, wish: Wish): number {
    const health = healthOf(view);
    let least = Number.POSITIVE_INFINITY;
    for (const key of view.keys) {
      const load = this.loads.of(key.id);
      if (load < least && isOpen(this.readinessOf(key, view, wish, health?.get(key.id)))) least = load;
    }
    return least;
  }

  /** Returns null for a key that cannot take the request. */
  private readinessOf(
    key: LevelKey,
    view: LevelView,
    wish: Wish,
    health: KeyHealth | undefined,
  ): Readiness | null {
    if (wish.tried.has(key.id) || wish.serves(key, wish.model) !== "served") return null;
    const { state } = usability(key, health, wish.modelAtPath ?? wish.model, wish.now);
    if (state !== "normal" && state !== "waking") return null;
    if (this.avoided.has(key.id, view.version, wish.now)) return null;
    if (state === "normal") return "ready";
    return wish.probing.has(key.id) ? "spare" : "probe";
  }
}

/**
 * Returns the first choice of a conversation among the keys that serve it and are enabled, whatever their health, but for
 * those that have woken lately where any other is there. Without a time (wall-clock ms) none has.
 */
function firstIn(view: LevelView, query: AffinityQuery, now: number | null = null): ProviderKeyId | null {
  const { servesFirst = null, serves } = query;
  const first = servesFirst === null ? null : firstAmong(view, query, servesFirst, now);
  return (first ?? firstAmong(view, query, serves, now))?.id ?? null;
}

function firstAmong(
  view: LevelView,
  { model, conversation }: AffinityQuery,
  serves: Serves,
  now: number | null,
): LevelKey | null {
  const health = now === null ? undefined : healthOf(view);
  const canServe = (key: LevelKey): boolean => key.state === "normal" && serves(key, model) === "served";
  const stayed =
    health === undefined || now === null
      ? null
      : highestRanked(view.keys, conversation, null, (key) => {
          return !hasWokenLately(health.get(key.id), now) && canServe(key);
        });
  return stayed ?? highestRanked(view.keys, conversation, null, canServe);
}
