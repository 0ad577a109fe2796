// The behaviour of an account: which command leads where. The rules live in the files beside it.

import type { Behavior, CommandOf, Decision, EffectDone, Turn } from "../../src/runtime/actor.ts";
import { unreachable } from "../../src/runtime/assert.ts";
import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";
import { type AdmitInput, type Admitted, type Asking, admit, forbidden } from "./admit.ts";
import { cancel, charge, expireDue, nobody, renew } from "./charge.ts";
import { evolve } from "./evolve.ts";
import { expireHolds } from "./holds.ts";
import { type Preview, preview } from "./preview.ts";
import { found, rotate } from "./profile.ts";
import { repeatMark } from "./repeats.ts";
import { type Account, type AccountEvent, type ChargeFacts, emptyAccount, type Profile } from "./state.ts";
import { type CreateChild, createChild, debts, effectDone, type Receive, receive } from "./transfer.ts";
import { type AccountRecord, freeze, materialise, record, thaw } from "./views.ts";

/** Every command an account understands: what goes in, what comes out. */
export interface AccountCommands {
  [command: string]: { readonly input: object; readonly output: unknown };
  /** Is this key this account's, and may it come from this address? For every endpoint but the gateway's. */
  readonly identify: {
    readonly input: { readonly keyHash: string; readonly ip: string; readonly suspendedToo: boolean };
    readonly output: AccountRecord;
  };
  /** The profile as routing needs it. */
  readonly profile: {
    readonly input: object;
    readonly output: {
      readonly profile: Profile;
      readonly version: number;
      readonly formerKeyHash: string | null;
    };
  };
  readonly read: { readonly input: object; readonly output: AccountRecord };
  readonly admit: { readonly input: AdmitInput; readonly output: Admitted };
  /** What `admit` would answer, and what the limits leave; changes nothing. */
  readonly preview: { readonly input: Asking; readonly output: Preview };
  readonly renew: {
    readonly input: { readonly id: string; readonly cost: Nano; readonly tokens: number };
    readonly output: { readonly held: boolean };
  };
  readonly charge: { readonly input: ChargeFacts; readonly output: object };
  readonly cancel: {
    readonly input: { readonly id: string; readonly aborted: boolean };
    readonly output: object;
  };
  readonly createChild: { readonly input: CreateChild; readonly output: { readonly id: AccountId } };
  readonly receive: { readonly input: Receive; readonly output: object };
  readonly expireCredit: { readonly input: object; readonly output: object };
  readonly found: {
    readonly input: { readonly keyHash: string };
    readonly output: { readonly founded: boolean };
  };
  /** Another API key, already claimed. The old one is dead with the answer. */
  readonly rotate: {
    readonly input: { readonly keyHash: string };
    readonly output: { readonly formerKeyHash: string | null };
  };
}

type Known = { [K in keyof AccountCommands as string extends K ? never : K]: AccountCommands[K] };
export type AccountCommand = CommandOf<Known> | EffectDone;

export const account: Behavior<Account, AccountCommand, AccountEvent> = {
  kind: "account",
  version: 1,
  empty: (id) => emptyAccount(Number(id) as AccountId),
  decide,
  evolve,
  pending: debts,
  materialise,
  freeze,
  thaw,
  isLine: (event) => "balanceAfter" in event,
  marks,
  mark,
  idle: (state) => state.volatile.holds.size === 0,
};

function decide(state: Account, command: AccountCommand, turn: Turn): Decision<AccountEvent> {
  // A renewal that comes late still finds its hold; to everything else a hold that is over counts no more.
  if (command.type !== "renew") expireHolds(state, turn.now);
  switch (command.type) {
    case "identify": {
      const { profile } = state;
      const reader = profile !== null && command.suspendedToo ? { ...profile, suspended: false } : profile;
      const refused = forbidden(reader, command.keyHash, command.ip);
      return refused !== null ? { refused } : { reply: record(state, turn.now) };
    }
    case "profile":
      if (state.profile === null) return { refused: nobody(state) };
      return {
        reply: { profile: state.profile, version: state.version, formerKeyHash: state.formerKeyHash },
      };
    case "read": {
      const found = record(state, turn.now);
      return found === null ? { refused: nobody(state) } : { reply: found };
    }
    case "admit":
      return admit(state, command, turn);
    case "preview":
      return preview(state, command, turn);
    case "renew":
      return renew(state, command, turn);
    case "charge":
      return charge(state, command, turn);
    case "cancel":
      return cancel(state, command, turn);
    case "createChild":
      return createChild(state, command, turn);
    case "receive":
      return receive(state, command, turn);
    case "expireCredit":
      return { reply: {}, events: expireDue(state, turn), save: true };
    case "found":
      return found(state, command, turn);
    case "rotate":
      return rotate(state, command);
    case "effectDone":
      return effectDone(state, command);
    default:
      return unreachable(command);
  }
}

function marks(event: AccountEvent): readonly string[] {
  switch (event.type) {
    case "charge":
      return [
        event.id,
        ...(event.request === event.id ? [] : [`request:${event.request}`]),
        ...(event.idempotency && event.account ? [repeatMark(event.account, event.idempotency.key)] : []),
      ];
    case "released":
      return [`${event.id}:released`];
    case "minted":
    case "transfer_out":
    case "transfer_in":
    case "refund":
      return [event.id];
    case "grant":
      return [event.id];
    default:
      return [];
  }
}

function mark(command: AccountCommand): string | undefined {
  switch (command.type) {
    case "charge":
    case "createChild":
      return command.id;
    case "receive":
      return command.transfer.id;
    case "cancel":
      return `${command.id}:released`;
    default:
      return undefined;
  }
}
