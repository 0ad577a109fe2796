// The actor of an Owner's provider keys: their settings, not their health, which belongs to their Level.
// Secrets arrive sealed and must stay sealed; nothing here can open them. Every change is a pending effect to
// each Level that it touches, until that Level has confirmed it.

import { assert, type Refusal, unreachable } from "../../src/base/errors.ts";
import type {
  Behavior,
  CommandOf,
  Decision,
  Effect,
  EffectDone,
  NoInput,
  Turn,
} from "../../src/runtime/actor.ts";
import type { AccountId, ProviderKeyId } from "../ids.ts";
import {
  applyKeyChange,
  type KeyChange,
  type ProviderKey,
  resealed,
  type SealedSecret,
} from "./provider-key.ts";

export type { KeyChange, ProviderKey, SealedSecret } from "./provider-key.ts";

/** Keys of one Owner; further ones are refused. */
const KEYS_MAX = 10_000;

/**
 * Maps each command type to its input and output. Commands for a missing key are refused with key_not_found.
 */
export interface KeyPoolCommands {
  readonly list: { readonly input: NoInput; readonly output: readonly ProviderKey[] };
  readonly read: { readonly input: { readonly id: ProviderKeyId }; readonly output: ProviderKey };
  /** Returns the keys of one Level in the newest version, as they are sent to the Level. */
  readonly members: {
    readonly input: { readonly level: number };
    readonly output: { readonly version: number; readonly keys: readonly ProviderKey[] };
  };
  readonly add: {
    readonly input: { readonly key: Omit<ProviderKey, "createdAt" | "updatedAt"> };
    readonly output: ProviderKey;
  };
  /**
   * Changes a key. `asOf` is the `updatedAt` of the key from which the change was made; if it differs now,
   * nothing is changed and the reply is null. `formerLevel` is the Level before the change, which may be the
   * same.
   */
  readonly update: {
    readonly input: { readonly id: ProviderKeyId; readonly change: KeyChange; readonly asOf?: number };
    readonly output: { readonly key: ProviderKey; readonly formerLevel: number } | null;
  };
  /** Removes a key and returns it. */
  readonly remove: { readonly input: { readonly id: ProviderKeyId }; readonly output: ProviderKey };
  /**
   * Replaces the boxes of secrets that were sealed again. A key whose box has changed meanwhile is skipped.
   */
  readonly reseal: {
    readonly input: { readonly secrets: readonly Resealed[] };
    readonly output: { readonly resealed: number };
  };
}

/** A secret that was sealed again: a key's SecretKey or private key, formerly in the box `was`. */
interface Resealed {
  readonly id: ProviderKeyId;
  readonly was: string;
  readonly secret: SealedSecret;
}

export type KeyPoolCommand = CommandOf<KeyPoolCommands> | EffectDone;

type KeyEvent =
  | { readonly type: "key_added"; readonly key: ProviderKey }
  | { readonly type: "key_updated"; readonly key: ProviderKey }
  | { readonly type: "key_removed"; readonly id: ProviderKeyId }
  | {
      readonly type: "keys_resealed";
      /** Old events have no `was` and mean the SecretKey. */
      readonly secrets: readonly (Omit<Resealed, "was"> & Partial<Resealed>)[];
    };

/** The events of a key pool. `level_told`: a Level has confirmed a version. */
export type KeyPoolEvent =
  | KeyEvent
  | { readonly type: "level_told"; readonly level: number; readonly version: number };

interface KeyPool {
  readonly id: string;
  readonly keys: Map<ProviderKeyId, ProviderKey>;
  /** Grows with every change of keys; a Level ignores versions older than its own. */
  version: number;
  /** Levels that have not confirmed the version of their last change. */
  readonly untold: Map<number, { readonly version: number; readonly bornAt: number }>;
}

/** Returns the id of a Level's actor. */
export const levelId = (owner: AccountId | string, level: number): string => `${owner}.${level}`;

/** The actor kind `key-pool`. */
export const keyPool: Behavior<KeyPool, KeyPoolCommand, KeyPoolEvent, Effect<"level", MembersChanged>> = {
  kind: "key-pool",
  version: 1,
  empty: (id) => ({ id, keys: new Map(), version: 0, untold: new Map() }),
  decide,
  evolve,
  pendingEffects: (state) => [...state.untold].map(([level, change]) => membersEffect(state, level, change)),
  materialize: () => [],
  freeze: (state) =>
    structuredClone({ keys: [...state.keys.values()], version: state.version, untold: [...state.untold] }),
  thaw(id, frozen) {
    const from = structuredClone(frozen) as {
      keys: ProviderKey[];
      version: number;
      untold: [number, { version: number; bornAt: number }][];
    };
    return {
      id,
      keys: new Map(from.keys.map((key) => [key.id, key])),
      version: from.version,
      untold: new Map(from.untold),
    };
  },
  isLine: () => false,
  dedupIds: () => [],
  dedupIdOf: () => undefined,
  reliesOnHolds: () => false,
  idle: () => true,
};

function decide(state: KeyPool, command: KeyPoolCommand, turn: Turn): Decision<KeyPoolEvent> {
  switch (command.type) {
    case "list":
      return { reply: [...state.keys.values()].sort((a, b) => a.id - b.id) };
    case "add": {
      if (state.keys.size >= KEYS_MAX) return { refused: tooMany() };
      const key: ProviderKey = { ...command.key, createdAt: turn.now, updatedAt: turn.now };
      return { reply: key, events: [{ type: "key_added", key }], save: true };
    }
    case "read": {
      const key = state.keys.get(command.id);
      return key === undefined ? { refused: notFound(command.id) } : { reply: key };
    }
    case "members":
      return { reply: { version: state.version, keys: membersOf(state, command.level) } };
    case "update": {
      const before = state.keys.get(command.id);
      if (before === undefined) return { refused: notFound(command.id) };
      if (command.asOf !== undefined && command.asOf !== before.updatedAt) return { reply: null };
      const key = applyKeyChange(before, command.change, turn.now);
      return {
        reply: { key, formerLevel: before.level },
        events: [{ type: "key_updated", key }],
        save: true,
      };
    }
    case "remove": {
      const key = state.keys.get(command.id);
      if (key === undefined) return { refused: notFound(command.id) };
      return { reply: key, events: [{ type: "key_removed", id: key.id }], save: true };
    }
    case "reseal": {
      const secrets = command.secrets.filter(({ id, was }) => {
        const key = state.keys.get(id);
        return key !== undefined && [key.secret.box, key.privateKey?.secret.box].includes(was);
      });
      if (secrets.length === 0) return { reply: { resealed: 0 } };
      return {
        reply: { resealed: secrets.length },
        events: [{ type: "keys_resealed", secrets }],
        save: true,
      };
    }
    case "effectDone": {
      const [level, version] = command.effect.split(":").slice(1).map(Number) as [number, number];
      if (state.untold.get(level)?.version !== version) return { reply: {} };
      return { reply: {}, events: [{ type: "level_told", level, version }] };
    }
    default:
      return unreachable(command);
  }
}

const notFound = (id: ProviderKeyId): Refusal => ({
  code: "key_not_found",
  message: `There is no key ${id}. GET /x-keys lists those that there are.`,
});

const tooMany = (): Refusal => ({
  code: "invalid_parameter",
  message: `An Owner may have ${KEYS_MAX} keys. Delete one first.`,
});

function evolve(state: KeyPool, event: KeyPoolEvent, at: number): void {
  if (event.type === "level_told") {
    state.untold.delete(event.level);
    return;
  }
  state.version++;
  for (const level of apply(state, event)) state.untold.set(level, { version: state.version, bornAt: at });
}

/** Applies an event to the keys and returns the Levels whose keys changed. */
function apply(state: KeyPool, event: KeyEvent): readonly number[] {
  switch (event.type) {
    case "key_added": {
      const { key } = event;
      assert(!state.keys.has(key.id), `key ${key.id} is added twice`);
      state.keys.set(key.id, key);
      return [key.level];
    }
    case "key_updated": {
      const { key } = event;
      const { level } = present(state, key.id);
      state.keys.set(key.id, key);
      return [level, key.level];
    }
    case "key_removed": {
      const { level } = present(state, event.id);
      state.keys.delete(event.id);
      return [level];
    }
    case "keys_resealed": {
      for (const { id, was, secret } of event.secrets) {
        state.keys.set(id, resealed(present(state, id), was, secret));
      }
      return event.secrets.map(({ id }) => present(state, id).level);
    }
    default:
      return unreachable(event);
  }
}

function present(state: KeyPool, id: ProviderKeyId): ProviderKey {
  const key = state.keys.get(id);
  assert(key !== undefined, `key ${id} changes, but is not there`);
  return key;
}

/** The command `members` of a Level as a key pool sends it; actors/index.ts checks it against the protocol. */
interface MembersChanged {
  readonly type: "members";
  readonly version: number;
  readonly keys: readonly ProviderKey[];
}

const membersOf = (state: KeyPool, level: number): ProviderKey[] =>
  [...state.keys.values()].filter((key) => key.level === level);

/**
 * The pending effect that sends a Level all of its keys, so that a lost or repeated delivery does no harm.
 */
function membersEffect(
  state: KeyPool,
  level: number,
  change: { version: number; bornAt: number },
): Effect<"level", MembersChanged> {
  const command = { type: "members", version: change.version, keys: membersOf(state, level) } as const;
  return {
    id: `members-${state.id}:${level}:${change.version}`,
    to: { kind: "level", id: levelId(state.id, level) },
    command,
    bornAt: change.bornAt,
  };
}
