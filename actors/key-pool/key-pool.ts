// An Owner's upstream keys: what they are, not how they fare (that is their Level's business). Secrets come sealed and
// stay sealed; nobody here can open them. Every change is owed to the Levels it touches until they have it.

import type {
  Behavior,
  CommandOf,
  Decision,
  Effect,
  EffectDone,
  Refusal,
  Turn,
} from "../../src/runtime/actor.ts";
import { assert, unreachable } from "../../src/runtime/assert.ts";
import type { AccountId, KeyId } from "../ids.ts";

/** A secret encrypted at rest, with the id of the key that opens it. */
export interface Sealed {
  readonly keyId: string;
  /** base64 of nonce, ciphertext, tag. */
  readonly box: string;
}

export interface ProviderKey {
  readonly id: KeyId;
  readonly name: string;
  readonly level: number;
  /** Upstream base URL. */
  readonly provider: string;
  readonly secret: Sealed;
  /** First 3 and last 4 characters: all that is ever shown. */
  readonly mask: string;
  readonly status: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Keys of one Owner; more are refused. */
const KEYS_MOST = 10_000;

export interface KeyPoolCommands {
  [command: string]: { readonly input: object; readonly output: unknown };
  readonly list: { readonly input: object; readonly output: readonly ProviderKey[] };
  readonly add: {
    readonly input: { readonly key: Omit<ProviderKey, "createdAt" | "updatedAt"> };
    readonly output: ProviderKey;
  };
  /** The same secrets in other boxes. A key whose box is not the one that was opened keeps what it has. */
  readonly reseal: {
    readonly input: {
      readonly secrets: readonly { readonly id: KeyId; readonly was: string; readonly secret: Sealed }[];
    };
    readonly output: { readonly resealed: number };
  };
}

type Known = { [K in keyof KeyPoolCommands as string extends K ? never : K]: KeyPoolCommands[K] };
export type KeyPoolCommand = CommandOf<Known> | EffectDone;

export type KeyPoolEvent =
  | { readonly type: "key_added"; readonly key: ProviderKey }
  | {
      readonly type: "keys_resealed";
      readonly secrets: readonly { readonly id: KeyId; readonly secret: Sealed }[];
    }
  | { readonly type: "level_told"; readonly level: number; readonly version: number };

interface KeyPool {
  readonly id: string;
  readonly keys: Map<KeyId, ProviderKey>;
  /** Grows with every change; Levels keep the newest membership they were told. */
  version: number;
  /** Levels that have not confirmed the version of their last change. */
  readonly untold: Map<number, { readonly version: number; readonly bornAt: number }>;
}

export const levelId = (owner: AccountId | string, level: number): string => `${owner}.${level}`;

export const keyPool: Behavior<KeyPool, KeyPoolCommand, KeyPoolEvent> = {
  kind: "key-pool",
  version: 1,
  empty: (id) => ({ id, keys: new Map(), version: 0, untold: new Map() }),
  decide,
  evolve,
  pending: (state) => [...state.untold].map(([level, told]) => telling(state, level, told)),
  materialise: () => [],
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
  marks: () => [],
  mark: () => undefined,
  idle: () => true,
};

function decide(state: KeyPool, command: KeyPoolCommand, turn: Turn): Decision<KeyPoolEvent> {
  switch (command.type) {
    case "list":
      return { reply: [...state.keys.values()].sort((a, b) => a.id - b.id) };
    case "add": {
      if (state.keys.size >= KEYS_MOST) return { refused: tooMany() };
      const key: ProviderKey = { ...command.key, createdAt: turn.now, updatedAt: turn.now };
      return { reply: key, events: [{ type: "key_added", key }], save: true };
    }
    case "reseal": {
      const secrets = command.secrets
        .filter(({ id, was }) => state.keys.get(id)?.secret.box === was)
        .map(({ id, secret }) => ({ id, secret }));
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

const tooMany = (): Refusal => ({
  code: "invalid_parameter",
  message: `An Owner may have ${KEYS_MOST} keys. Delete one first.`,
});

function evolve(state: KeyPool, event: KeyPoolEvent, at: number): void {
  switch (event.type) {
    case "key_added":
      assert(!state.keys.has(event.key.id), `key ${event.key.id} is added twice`);
      state.keys.set(event.key.id, event.key);
      state.version++;
      state.untold.set(event.key.level, { version: state.version, bornAt: at });
      return;
    case "keys_resealed":
      state.version++;
      for (const { id, secret } of event.secrets) {
        const key = state.keys.get(id);
        assert(key !== undefined, `key ${id} is sealed anew, but is not there`);
        state.keys.set(id, { ...key, secret });
        state.untold.set(key.level, { version: state.version, bornAt: at });
      }
      return;
    case "level_told":
      state.untold.delete(event.level);
      return;
    default:
      unreachable(event);
  }
}

/** The whole membership of a Level, so that a lost or repeated telling does no harm. */
function telling(state: KeyPool, level: number, told: { version: number; bornAt: number }): Effect {
  const keys = [...state.keys.values()].filter((key) => key.level === level);
  const command = { type: "members", version: told.version, keys };
  return {
    id: `members-${state.id}:${level}:${told.version}`,
    to: { kind: "level", id: levelId(state.id, level) },
    command,
    bornAt: told.bornAt,
  };
}
