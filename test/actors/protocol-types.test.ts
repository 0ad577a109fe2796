// The protocol of the actors has no holes: what the compiler must refuse is listed here (tsc fails when it accepts one of
// these lines), and the names of the protocol are those that the behaviors decide.

import { describe, expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../actors/index.ts";
import { NoCase } from "../../src/base/errors.ts";
import type { AnyBehavior, EffectOf, Kind } from "../../src/runtime/actor.ts";
import type { ActorSystem } from "../../src/runtime/system.ts";

const ID = 7 as AccountId;

/** Never runs: each line below a directive is an error of types. */
export function refusedByTheCompiler({ ask }: ActorSystem<Protocol>): unknown[] {
  const account = actorRef.account(ID);
  return [
    // @ts-expect-error: no kind has this command
    ask(account, "multiply", {}),
    // @ts-expect-error: a Level has this command, an account has not
    ask(account, "releaseProbe", { key: 1, startedAt: 2 }),
    // @ts-expect-error: the runtime alone sends it
    ask(account, "effectDone", { effect: "e", refused: null }),
    // @ts-expect-error: the input lacks a field
    ask(account, "cancel", { id: "r" }),
    // @ts-expect-error: the input has a field of another type
    ask(account, "cancel", { id: "r", aborted: "yes" }),
    // @ts-expect-error: the input has a field too many
    ask(account, "cancel", { id: "r", aborted: true, cost: 1 }),
    // @ts-expect-error: the command has no input
    ask(account, "read", { id: 7 }),
    // @ts-expect-error: no kind of actor is called so
    ask({ kind: "purse", id: "7" }, "read", {}),
    // @ts-expect-error: the reply has no such field
    ask(account, "cancel", { id: "r", aborted: true }).then(({ held }) => held),
  ];
}

/** What an actor owes is a command of the kind that `to` names. */
export const refusedEffects: readonly EffectOf<Protocol>[] = [
  { id: "e", bornAt: 0, to: actorRef.account(ID), command: { type: "removeChild", id: "e", child: ID } },
  // @ts-expect-error: a Level has no such command
  { id: "e", bornAt: 0, to: actorRef.level(ID, 1), command: { type: "removeChild", id: "e", child: ID } },
  // @ts-expect-error: the command lacks a field
  { id: "e", bornAt: 0, to: actorRef.account(ID), command: { type: "removeChild", id: "e" } },
];

type Names<K extends Kind> = Readonly<Record<keyof Protocol[K], true>>;

/** Every name of the protocol: the compiler demands that none is missing and none is too many. */
const NAMES: { readonly [K in Kind]: Names<K> } = {
  account: {
    ...{
      identify: true,
      profile: true,
      read: true,
      admit: true,
      admitDryRun: true,
      standing: true,
      renew: true,
      reassertHolds: true,
    },
    ...{ apiKeys: true, addApiKey: true, changeApiKey: true, rotateApiKey: true, deleteApiKey: true },
    forgetSecrets: true,
    ...{
      releaseOrphanedHolds: true,
      charge: true,
      cancel: true,
      update: true,
      adjust: true,
      createChild: true,
      startTransfer: true,
    },
    ...{
      startRefund: true,
      fee: true,
      margins: true,
      topUp: true,
      mailSent: true,
      receiveCredit: true,
      move: true,
    },
    ...{
      addChild: true,
      removeChild: true,
      close: true,
      settleClosing: true,
      endClosing: true,
      unfinishedWork: true,
    },
    ...{ expireCredit: true, creation: true, forbidCreation: true, createRoot: true, rotate: true },
  },
  owner: { read: true, configure: true, completeLevels: true },
  "key-pool": { list: true, read: true, members: true, add: true, update: true, remove: true, reseal: true },
  level: {
    ...{ view: true, members: true, failed: true, succeeded: true, probe: true, releaseProbe: true },
    wake: true,
  },
};

/** Whether the behavior has a case for the command. It may well stumble over the input that is missing here. */
function decides(behavior: AnyBehavior, type: string): boolean {
  const command = { type };
  const turn = { id: "c", from: "n#1", now: 1_000_000, epoch: 1, done: false };
  try {
    behavior.decide(behavior.empty("7"), command, turn);
  } catch (error) {
    return !(error instanceof NoCase && error.value === command);
  }
  return true;
}

describe.each(behaviors.map((behavior) => [behavior.kind, behavior] as const))("%s", (kind, behavior) => {
  test("decides every command of its protocol", () => {
    expect(Object.keys(NAMES[kind]).filter((type) => !decides(behavior, type))).toEqual([]);
  });

  test("decides no command of another kind alone, and none that nobody knows", () => {
    const own = new Set([...Object.keys(NAMES[kind]), "effectDone"]);
    const others = Object.values(NAMES).flatMap((names) => Object.keys(names));
    const strange = ["multiply", ...others].filter((type) => !own.has(type));
    expect(strange.filter((type) => decides(behavior, type))).toEqual([]);
  });
});
