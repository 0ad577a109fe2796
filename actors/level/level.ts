// One Level of one Owner: which keys stand in it and how they fare. It has the last word; front ends choose from the
// versioned view that it publishes, so that no request has to ask.

import type { Behavior, CommandOf, Decision, Turn } from "../../src/runtime/actor.ts";
import { unreachable } from "../../src/runtime/assert.ts";
import type { ProviderKey } from "../key-pool/key-pool.ts";

export interface LevelView {
  /** `<owner>.<level>`. */
  readonly id: string;
  readonly version: number;
  readonly keys: readonly LevelKey[];
}

/** A key as the gateway needs it. */
export interface LevelKey {
  readonly id: ProviderKey["id"];
  readonly level: number;
  readonly provider: string;
  readonly secret: ProviderKey["secret"];
  readonly config: ProviderKey["config"];
  readonly state: "normal" | "disabled";
}

export interface LevelCommands {
  [command: string]: { readonly input: object; readonly output: unknown };
  readonly view: { readonly input: object; readonly output: LevelView };
  /** From the key pool: the keys that stand in this Level now. */
  readonly members: {
    readonly input: { readonly version: number; readonly keys: readonly ProviderKey[] };
    readonly output: object;
  };
}

type Known = { [K in keyof LevelCommands as string extends K ? never : K]: LevelCommands[K] };
export type LevelCommand = CommandOf<Known>;

export interface LevelEvent {
  readonly type: "members_changed";
  readonly version: number;
  readonly keys: readonly LevelKey[];
}

interface Level {
  readonly id: string;
  /** The pool's version of the membership. */
  members: number;
  version: number;
  keys: readonly LevelKey[];
}

const levelTopic = (id: string): string => `level.${id}`;

export const level: Behavior<Level, LevelCommand, LevelEvent> = {
  kind: "level",
  version: 1,
  empty: (id) => ({ id, members: 0, version: 0, keys: [] }),
  decide,
  evolve(state, event) {
    state.members = event.version;
    state.version++;
    state.keys = event.keys;
  },
  pending: () => [],
  materialise: () => [],
  freeze: (state) => structuredClone(state),
  thaw: (_id, frozen) => structuredClone(frozen) as Level,
  isLine: () => false,
  marks: () => [],
  mark: () => undefined,
  idle: () => true,
};

function decide(state: Level, command: LevelCommand, _turn: Turn): Decision<LevelEvent> {
  switch (command.type) {
    case "view":
      return { reply: viewOf(state, state.version, state.keys) };
    case "members": {
      if (command.version <= state.members) return { reply: {} };
      const keys = command.keys.map(forGateway);
      return {
        reply: {},
        events: [{ type: "members_changed", version: command.version, keys }],
        publish: [{ topic: levelTopic(state.id), body: viewOf(state, state.version + 1, keys) }],
        save: true,
      };
    }
    default:
      return unreachable(command);
  }
}

const viewOf = (state: Level, version: number, keys: readonly LevelKey[]): LevelView => ({
  id: state.id,
  version,
  keys,
});

const forGateway = (key: ProviderKey): LevelKey => ({
  id: key.id,
  level: key.level,
  provider: key.provider,
  secret: key.secret,
  config: key.config,
  state: key.status ? "normal" : "disabled",
});
