// What the endpoints of accounts need, and what they say alike. The endpoints stand beside it: create-user.ts,
// find-users.ts, update-user.ts, delete-user.ts.

import { isRoot, type Profile } from "../../../actors/account/state.ts";
import { fromUsd, type Nano, ZERO } from "../../../actors/money.ts";
import type { Created, Creation } from "../../admin/create-account.ts";
import type { ConfigCache } from "../../gateway/account/config-cache.ts";
import type { Store } from "../../store/store.ts";
import type { ManagementParts } from "../management.ts";
import { wrong } from "./user-lists.ts";

export interface UsersParts extends ManagementParts {
  readonly store: Store;
  readonly replicas: ConfigCache;
  readonly createAccount: (creation: Creation) => Promise<Created>;
}

/** Credit is valid so long when nothing else is said (spec: Limits). */
export const DEFAULT_DAYS = 180;

/** Dollars of a field as nano-dollars. */
export const nano = (usd: number, field: string): Nano =>
  fromUsd(usd) ?? wrong(field, "must be a finite amount of US dollars");

/** What an account must keep when it gives: its Owner's UserMinBalance; Root gives what it makes, and keeps nothing. */
export async function minimumBalance(
  { replicas }: Pick<UsersParts, "replicas">,
  giver: Profile,
): Promise<Nano> {
  if (isRoot(giver)) return ZERO;
  const { config } = await replicas.lineage(giver.id);
  return config.config.userMinBalance;
}
