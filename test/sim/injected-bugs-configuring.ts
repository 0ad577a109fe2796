// Bugs injected into configurations, maps and Levels, each to be found by one checker (see injected-bugs.ts).

import type { AccountCommand } from "../../actors/account/account.ts";
import type { AccountEvent } from "../../actors/account/state.ts";
import type { LevelCommand } from "../../actors/level/level.ts";
import type { LevelEvent } from "../../actors/level/state.ts";
import type { ConfigChange, OwnerConfig } from "../../actors/owner/config.ts";
import type { OwnerCommand, OwnerEvent } from "../../actors/owner/owner.ts";
import type { Behavior, Command, Kind } from "../../src/runtime/actor.ts";
import type { InjectedBug } from "./injected-bugs.ts";
import type { Options } from "./simulate.ts";

const LOAD = { configuring: 300, orderly: true, accounts: 10, requests: 20, errands: 0, durationMs: 20_000 };

const inKind = <C extends Command, E>(
  kind: Kind,
  change: (real: Behavior<unknown, C, E>) => Partial<Behavior<unknown, C, E>>,
): Options => ({
  load: LOAD,
  injected: {
    behavior: (real) => (real.kind === kind ? { ...real, ...change(real as Behavior<unknown, C, E>) } : real),
  },
});
const inOwner = inKind<OwnerCommand, OwnerEvent>;
const inLevel = inKind<LevelCommand, LevelEvent>;

/** A change, or a whole configuration, with its cascades as if laid before everything. */
function backdated<T extends ConfigChange>(config: T): T {
  if (config.cascades === undefined) return config;
  const { modelMapper, modelLimits } = structuredClone(config.cascades);
  const entries = [modelMapper, modelLimits].flatMap((one) => Object.values(one.entries));
  for (const entry of entries) Object.assign(entry, { at: 0, root: 0 });
  return { ...config, cascades: { modelMapper, modelLimits } };
}

export const CONFIGURING_BUGS: readonly InjectedBug[] = [
  {
    checker: "10 configuration",
    bug: "an edit that replaces the map instead of merging into it",
    options: inOwner("owner", (real) => ({
      decide(state, command, turn) {
        const decision = real.decide(state, command, turn);
        const edits = command.type === "configure" ? command.edits?.modelMapper : undefined;
        if (decision.events === undefined || edits === undefined) return decision;
        const set = edits.changes.filter(({ value }) => value !== null);
        const modelMapper = Object.fromEntries(set.map(({ pattern, value }) => [pattern, value!]));
        const events = decision.events.map((event) => ({
          ...event,
          change: { ...event.change, modelMapper },
        }));
        return { ...decision, events };
      },
    })),
  },
  {
    checker: "10 configuration",
    bug: "a refused change that is done all the same",
    options: inOwner("owner", (real) => ({
      decide(state, command, turn) {
        const decision = real.decide(state, command, turn);
        if (!decision.refused || command.type !== "configure") return decision;
        const { version: _, ...unversioned } = command;
        const done = real.decide(state, { ...unversioned, edits: {} }, turn);
        return { ...done, ...decision };
      },
    })),
  },
  {
    checker: "10 configuration",
    bug: "a history that does not tell all that changed",
    options: inOwner("owner", (real) => ({
      materialize: (state) =>
        real.materialize(state).map((row) => {
          const [, ...changes] = Object.entries(row.body.changes as object);
          return { ...row, body: { ...row.body, changes: Object.fromEntries(changes) } };
        }),
    })),
  },
  {
    checker: "10 configuration",
    bug: "a history that loses versions",
    options: inOwner("owner", (real) => ({ materialize: (state) => real.materialize(state).slice(1) })),
  },
  {
    checker: "11 maps",
    bug: "a cascade that is older than every word of an account",
    options: inOwner("owner", (real) => ({
      decide(state, command, turn) {
        const decision = real.decide(state, command, turn);
        if (decision.events === undefined) return decision;
        const events = decision.events.map((event) => ({ ...event, change: backdated(event.change) }));
        return { ...decision, reply: backdated(decision.reply as OwnerConfig), events };
      },
    })),
  },
  {
    checker: "11 maps",
    bug: "an account that does not remember what it knew when it spoke",
    options: inKind<AccountCommand, AccountEvent>("account", (real) => ({
      decide(state, command, turn) {
        if (command.type !== "update") return real.decide(state, command, turn);
        const { stamps: _, ...change } = command.change;
        return real.decide(state, { ...command, change }, turn);
      },
    })),
  },
  {
    checker: "12 keys",
    bug: "a wake that wakes nobody",
    options: inLevel("level", (real) => ({
      decide: (state, command, turn) =>
        command.type === "wake" ? { reply: { woken: [] } } : real.decide(state, command, turn),
    })),
  },
  {
    checker: "7 liveness",
    bug: "a Level that misses every other change of its keys",
    options: inLevel("level", (real) => ({
      decide: (state, command, turn) =>
        command.type === "members" && command.version % 2 === 0
          ? { reply: {} }
          : real.decide(state, command, turn),
    })),
  },
];
