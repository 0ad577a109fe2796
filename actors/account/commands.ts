// The input and output types of every command of an account. Types only; the rule of a command stands in its
// own file.

import type { CommandOf, EffectDone, NoInput } from "../../src/runtime/actor.ts";
import type { AccountId } from "../ids.ts";
import type { Nano } from "../money.ts";
import type { AdmitInput, Admitted, StaleProfile } from "./admit.ts";
import type { AdmitDryRun, DryRunRequest } from "./admit-dry-run.ts";
import type { ApiKeyCommands } from "./api-keys.ts";
import type { TopUp } from "./auto-quota.ts";
import type { Margins } from "./capacity.ts";
import type { CloseAccount, RemoveChild, SettleClosing, UnfinishedWork } from "./closing.ts";
import type { CreationState } from "./creation.ts";
import type { AdjustTotals, TakeFee } from "./fees.ts";
import type { IdentifiedCaller, IdentifyCaller } from "./identify.ts";
import type { AddChild, MoveAccount } from "./move.ts";
import type { ReleaseOrphanedHolds } from "./orphaned-holds.ts";
import type { RotateKey, UpdateProfile } from "./profile.ts";
import type { ReassertHolds } from "./reassert-holds.ts";
import type { MailSent } from "./soft-limit-alert.ts";
import type { Standing, StandingInput } from "./standing.ts";
import type { ChargeFacts } from "./state.ts";
import type { CreateChild, ReceiveCredit, StartRefund, StartTransfer } from "./transfer.ts";
import type { AccountChanged, AccountRecord } from "./views.ts";

/** Maps each command type to its input and output. */
export interface AccountCommands extends ApiKeyCommands {
  /** Checks key, flags, address and scope for every endpoint except those of the gateway. */
  readonly identify: { readonly input: IdentifyCaller; readonly output: IdentifiedCaller };
  /** Returns the profile for routing, also of a closing or closed account (see `closing`). */
  readonly profile: {
    readonly input: NoInput;
    readonly output: AccountChanged & {
      readonly formerKeyHash: string | null;
      /** Hashes of the secrets of named keys that have claims. */
      readonly secretHashes: readonly string[];
    };
  };
  readonly read: { readonly input: NoInput; readonly output: AccountRecord };
  readonly admit: { readonly input: AdmitInput; readonly output: Admitted | StaleProfile };
  /** Returns what `admit` would answer, and what the limits leave; changes nothing. */
  readonly admitDryRun: { readonly input: DryRunRequest; readonly output: AdmitDryRun | StaleProfile };
  /** Returns what would refuse any request now, and what counts in the windows. */
  readonly standing: { readonly input: StandingInput; readonly output: Standing };
  readonly renew: {
    readonly input: { readonly id: string; readonly cost: Nano; readonly tokens: number };
    readonly output: { readonly held: boolean };
  };
  /** A node re-asserts the holds of its running requests after this account has lost them. */
  readonly reassertHolds: { readonly input: ReassertHolds; readonly output: { readonly dropped: number } };
  /** Releases orphaned holds: the nodes that ran these requests are dead. */
  readonly releaseOrphanedHolds: { readonly input: ReleaseOrphanedHolds; readonly output: object };
  readonly charge: { readonly input: ChargeFacts; readonly output: object };
  readonly cancel: {
    readonly input: { readonly id: string; readonly aborted: boolean };
    readonly output: object;
  };
  readonly update: { readonly input: UpdateProfile; readonly output: AccountRecord };
  readonly adjust: { readonly input: AdjustTotals; readonly output: object };
  readonly createChild: { readonly input: CreateChild; readonly output: { readonly id: AccountId } };
  readonly startTransfer: { readonly input: StartTransfer; readonly output: object };
  readonly startRefund: { readonly input: StartRefund; readonly output: object };
  readonly fee: { readonly input: TakeFee; readonly output: { readonly paid: Nano } };
  /** Returns what the account can give and take now. */
  readonly margins: { readonly input: NoInput; readonly output: Margins };
  readonly topUp: { readonly input: TopUp; readonly output: { readonly asked: boolean } };
  readonly mailSent: { readonly input: MailSent; readonly output: object };
  readonly receiveCredit: { readonly input: ReceiveCredit; readonly output: object };
  readonly move: { readonly input: MoveAccount; readonly output: object };
  readonly addChild: { readonly input: AddChild; readonly output: object };
  readonly removeChild: { readonly input: RemoveChild; readonly output: object };
  readonly close: { readonly input: CloseAccount; readonly output: object };
  readonly settleClosing: {
    readonly input: SettleClosing;
    readonly output: { readonly fee: Nano; readonly refunded: Nano };
  };
  readonly endClosing: { readonly input: NoInput; readonly output: object };
  /** Returns what is unfinished between this account and others. */
  readonly unfinishedWork: { readonly input: NoInput; readonly output: UnfinishedWork };
  /** Also returns the hashes of dead secrets, whose claims are to be released before `forgetSecrets`. */
  readonly expireCredit: {
    readonly input: NoInput;
    readonly output: { readonly deadSecrets: readonly string[] };
  };
  readonly creation: { readonly input: NoInput; readonly output: { readonly state: CreationState } };
  /** Gives up a creation that took too long: this account can never be created afterwards. */
  readonly forbidCreation: { readonly input: NoInput; readonly output: { readonly state: CreationState } };
  readonly createRoot: {
    readonly input: { readonly keyHash: string };
    readonly output: { readonly founded: boolean };
  };
  /** Replaces the API key by one that is already claimed. The old key is invalid from the reply on. */
  readonly rotate: {
    readonly input: RotateKey;
    readonly output: { readonly formerKeyHash: string | null };
  };
}

export type AccountCommand = CommandOf<AccountCommands> | EffectDone;
