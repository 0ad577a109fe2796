// What the key that is signed in may do to the keys of a list. The service decides it again; what it would refuse is not offered.

import type { Answers } from "../../api/answers.ts";
import { publicKeyOf } from "../../api/key-hash.ts";
import type { Status } from "../../api/role.ts";

/** A row of the list of keys. */
export type ApiKeyRow = Answers["/dashboard/keys"]["keys"][number];
/** What a key may be given. */
export type Scope = ApiKeyRow["scopes"][number];

/** The id of the main key. */
export const MAIN_KEY_ID = 0;

/** The key that is signed in, as it stands to the account whose keys are shown. */
export interface Caller {
  readonly scopes: readonly Scope[];
  /** Whether it is the main key of its account. */
  readonly isMain: boolean;
  /** Whether the keys shown are those of its own account. */
  readonly isOwn: boolean;
  /** The beginning of its hash. */
  readonly publicKey: string;
}

/** Returns who is signed in with `key`; `user` is null for the keys of its own account. */
export function callerOf(status: Status, key: string, user: string | null): Caller {
  const publicKey = publicKeyOf(key);
  return {
    scopes: status.scopes,
    isMain: publicKey === status.public_key,
    isOwn: user === null,
    publicKey,
  };
}

/** Whether the row is the key that is signed in. */
export const isItself = (caller: Caller, row: ApiKeyRow): boolean =>
  caller.isOwn && row.public_key === caller.publicKey;

/** Whether the key may change, rotate and delete another one (contract section 8, "No escalation"). */
export function mayTouch(caller: Caller, row: ApiKeyRow): boolean {
  if (row.id === MAIN_KEY_ID || isItself(caller, row)) return false;
  if (caller.isOwn && caller.isMain) return true;
  return row.scopes.every((scope) => caller.scopes.includes(scope));
}

/** The scopes that it may give: none that it lacks, and administration in its own account alone, beside `manage`. */
export const givableScopes = ({ scopes, isOwn }: Caller): readonly Scope[] =>
  scopes.filter((scope) => scope !== "admin" || (isOwn && scopes.includes("manage")));

/** How a key stands now. */
export function apiKeyStateOf(
  { status, expires_at }: ApiKeyRow,
  nowMs: number,
): "active" | "disabled" | "expired" {
  if (!status) return "disabled";
  return expires_at !== null && Date.parse(expires_at) <= nowMs ? "expired" : "active";
}
