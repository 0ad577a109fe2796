// Every command an account understands: what goes in, what comes out. Types only; what a command does stands in the
// file of its rule.

import type { CommandOf, EffectDone } from "../../src/runtime/actor.ts";
import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";
import type { AdmissionRequest, AdmitInput, Admitted } from "./admit.ts";
import type { AdmitDryRun } from "./admit-dry-run.ts";
import type { TopUp } from "./auto-quota.ts";
import type { Margins } from "./capacity.ts";
import type { CloseAccount, RemoveChild, SettleClosing, UnfinishedWork } from "./closing.ts";
import type { Birth } from "./creation.ts";
import type { AdjustTotals, TakeFee } from "./fees.ts";
import type { AddChild, MoveAccount } from "./move.ts";
import type { ReleaseOrphanedHolds } from "./orphaned-holds.ts";
import type { RotateKey, UpdateProfile } from "./profile.ts";
import type { ReassertHolds } from "./reassert-holds.ts";
import type { MailSent } from "./soft-limit-alert.ts";
import type { ChargeFacts } from "./state.ts";
import type { CreateChild, ReceiveCredit, StartRefund, StartTransfer } from "./transfer.ts";
import type { AccountChanged, AccountRecord } from "./views.ts";

/** Every command an account understands: what goes in, what comes out. */
export interface AccountCommands {
  [command: string]: { readonly input: object; readonly output: unknown };
  /** Is this key this account's, and may it come from this address? For every endpoint but the gateway's. */
  readonly identify: {
    readonly input: { readonly keyHash: string; readonly ip: string; readonly suspendedToo: boolean };
    readonly output: AccountRecord;
  };
  /** The profile as routing needs it; of a closing or closed account too, which says so. */
  readonly profile: {
    readonly input: object;
    readonly output: AccountChanged & { readonly formerKeyHash: string | null };
  };
  readonly read: { readonly input: object; readonly output: AccountRecord };
  readonly admit: { readonly input: AdmitInput; readonly output: Admitted };
  /** What `admit` would answer, and what the limits leave; changes nothing. */
  readonly preview: { readonly input: AdmissionRequest; readonly output: AdmitDryRun };
  readonly renew: {
    readonly input: { readonly id: string; readonly cost: Nano; readonly tokens: number };
    readonly output: { readonly held: boolean };
  };
  /** What requests in flight hold, told by whoever runs them after this account has forgotten it. */
  readonly holdAgain: { readonly input: ReassertHolds; readonly output: { readonly dropped: number } };
  /** The front ends of these requests are over: their holds end. */
  readonly abandon: { readonly input: ReleaseOrphanedHolds; readonly output: object };
  readonly charge: { readonly input: ChargeFacts; readonly output: object };
  readonly cancel: {
    readonly input: { readonly id: string; readonly aborted: boolean };
    readonly output: object;
  };
  readonly update: { readonly input: UpdateProfile; readonly output: AccountRecord };
  readonly adjust: { readonly input: AdjustTotals; readonly output: object };
  readonly createChild: { readonly input: CreateChild; readonly output: { readonly id: AccountId } };
  readonly give: { readonly input: StartTransfer; readonly output: object };
  readonly giveBack: { readonly input: StartRefund; readonly output: object };
  readonly fee: { readonly input: TakeFee; readonly output: { readonly paid: Nano } };
  /** What it can give and take now. */
  readonly margins: { readonly input: object; readonly output: Margins };
  readonly topUp: { readonly input: TopUp; readonly output: { readonly asked: boolean } };
  readonly mailSent: { readonly input: MailSent; readonly output: object };
  readonly receive: { readonly input: ReceiveCredit; readonly output: object };
  readonly move: { readonly input: MoveAccount; readonly output: object };
  readonly adopt: { readonly input: AddChild; readonly output: object };
  readonly disown: { readonly input: RemoveChild; readonly output: object };
  readonly close: { readonly input: CloseAccount; readonly output: object };
  readonly settleClosing: {
    readonly input: SettleClosing;
    readonly output: { readonly fee: Nano; readonly refunded: Nano };
  };
  readonly endClosing: { readonly input: object; readonly output: object };
  /** What is unfinished between this account and others. */
  readonly affairs: { readonly input: object; readonly output: UnfinishedWork };
  readonly expireCredit: { readonly input: object; readonly output: object };
  readonly birth: { readonly input: object; readonly output: { readonly birth: Birth } };
  /** Its creation took too long: nobody is born here any more. */
  readonly forgo: { readonly input: object; readonly output: { readonly birth: Birth } };
  readonly found: {
    readonly input: { readonly keyHash: string };
    readonly output: { readonly founded: boolean };
  };
  /** Another API key, already claimed. The old one is dead with the answer. */
  readonly rotate: {
    readonly input: RotateKey;
    readonly output: { readonly formerKeyHash: string | null };
  };
}

type Known = { [K in keyof AccountCommands as string extends K ? never : K]: AccountCommands[K] };
export type AccountCommand = CommandOf<Known> | EffectDone;
